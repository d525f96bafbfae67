//! Numbers: the constants with their neighbours, halves where they are rounded, the ends of widths where they are added.

use super::{Choices, Place, Tier};
use crate::prove::uses::Looks;
use diglot::types::Base;
use diglot::value::Value;

/// What stands where nothing is known: neither 0 nor 1, which many operations leave as they are.
const ANCHOR: i64 = 10;
/// How many constants of other comparisons count.
const NEAR: usize = 6;

pub(super) fn add(place: Place<'_>, choices: &mut Choices) {
    let Place { pool, .. } = place;
    let is_real = matches!(place.base, Base::Float64 | Base::Numeric | Base::Stored(_));
    let wide = pool.looks.any(Looks::ORDERED | Looks::SUMMED | Looks::MEASURED | Looks::CAST);
    let met = constants(place, &pool.literals);
    let words = constants(place, &pool.words);
    let near: Vec<f64> = constants(place, &pool.near).into_iter().filter(|n| !met.contains(n)).take(NEAR).collect();
    let ranges = [pool.kept, pool.range, place.range].into_iter().flatten();
    let anchor = ranges.fold(ANCHOR, |anchor, (least, most)| anchor.clamp(least, most.max(least)));
    let anchors = match met.as_slice() {
        // As many rows as there are in a small database.
        [] if pool.looks.any(Looks::COUNTED) => vec![1.0],
        [] => vec![anchor as f64],
        met => met.to_vec(),
    };
    let mut add = |tier: Tier, numbers: &[f64]| {
        choices.add(tier, numbers.iter().filter_map(|number| value(*number, place.base)));
    };
    add(Tier::Core, &anchors);
    for anchor in &anchors {
        // Between two whole numbers lies what one bound lets through and the next one does not.
        let step = if is_real { 0.5 } else { 1.0 };
        match (wide, met.is_empty()) {
            (true, _) => add(Tier::Core, &[anchor + step, anchor - step]),
            (false, _) => add(Tier::More, &[anchor + 1.0, anchor - 1.0]),
        }
        if is_real {
            add(Tier::More, &[anchor + 1.0, anchor - 1.0]);
        }
        if pool.looks.any(Looks::ORDERED) {
            add(Tier::More, &[longer(*anchor)]);
        }
    }
    if !wide {
        add(Tier::Core, &[anchors.iter().copied().fold(f64::MIN, f64::max) + 1.0]);
    }
    if pool.looks.any(Looks::SUMMED | Looks::ORDERED | Looks::MEASURED) {
        for number in &near {
            add(Tier::Core, &[*number]);
            add(Tier::More, &[number + 1.0, number - 1.0]);
            for anchor in &anchors {
                add(Tier::More, &[anchor + number, anchor - number]);
                add(Tier::More, &[anchor + number + 1.0, anchor - number - 1.0]);
            }
        }
    }
    if pool.looks.any(Looks::SUMMED | Looks::NULLED | Looks::TRUTH) {
        add(Tier::More, &[0.0, 1.0]);
    }
    if pool.looks.any(Looks::SUMMED) {
        solutions(&near).iter().for_each(|number| add(Tier::Core, &[*number]));
        // What a sum is made of is divided beside a value of another place, which has an anchor of its own.
        if pool.looks.any(Looks::DIVIDED) {
            let divisors = near.iter().filter(|number| number.fract() == 0.0 && number.abs() > 1.0);
            divisors.for_each(|number| add(Tier::More, &[anchor as f64 * number, anchor as f64 * number + 1.0]));
        }
    }
    if pool.looks.any(Looks::DIVIDED) {
        add(Tier::Core, &[7.0, 0.0]);
        add(Tier::More, &[-7.0, 3.0, 2.0]);
        if is_real {
            add(Tier::Core, &[7.5]);
        }
    }
    if pool.looks.any(Looks::ROUNDED | Looks::CAST) {
        halves(&near, is_real).chunks(2).for_each(|both| {
            add(Tier::Core, &both[..1]);
            add(Tier::More, &both[1..]);
        });
    }
    if is_real && pool.looks.any(Looks::ROUNDED | Looks::CAST) {
        add(Tier::Core, &[0.5, 1.5, 2.5]);
        add(Tier::More, &[-0.5, -2.5, 0.125, 2.675, 0.49]);
    } else if is_real && pool.looks.any(Looks::SUMMED) {
        add(Tier::More, &[0.5, 0.1]);
    }
    if pool.looks.any(Looks::SUMMED | Looks::ORDERED) {
        add(Tier::More, &[-1.0]);
    }
    add(Tier::More, &words);
    edges(place, choices);
}

/// The least number with one digit more: as a text it stands before most of those that are less.
fn longer(number: f64) -> f64 {
    let mut longer = 10.0;
    while longer <= number {
        longer *= 10.0;
    }
    longer
}

/// Whole numbers on which a sum, a difference or a product with one constant meets another one, and those of which the
/// product with a decimal constant is not what binary fractions make of it, with that product.
fn solutions(near: &[f64]) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    let decimals = near.iter().filter(|number| number.fract() != 0.0);
    for decimal in decimals {
        for other in near.iter().filter(|other| *other != decimal) {
            found.extend([other / decimal, other + decimal, other - decimal].map(|n| (n * 1e6).round() / 1e6));
        }
        found.extend(inexact(*decimal));
    }
    found.retain(|number| number.fract() == 0.0 && number.abs() < 1e9);
    found
}

/// Numbers of which the quotient by a constant, or the product with it, lies in the middle of two whole ones: above an even
/// one, and above an odd one. The product of a whole constant does so with a fraction alone.
fn halves(near: &[f64], is_real: bool) -> Vec<f64> {
    let of = |constant: &f64| {
        let whole = constant.fract() == 0.0;
        let (quotient, product) =
            (whole.then_some([2.5, 1.5].map(|half| half * constant)), [2.5, 1.5].map(|half| half / constant));
        quotient.into_iter().chain((is_real || !whole).then_some(product)).flatten().collect::<Vec<_>>()
    };
    near.iter().filter(|constant| constant.abs() > 0.0 && constant.abs() != 1.0).flat_map(of).collect()
}

/// How far whole numbers are tried for a product that binary fractions miss.
const TRIED: i32 = 1_000;

/// The first whole number of which the product with a decimal is whole and comes out above it in binary fractions, and
/// the first with one below it, each with the product.
fn inexact(decimal: f64) -> Vec<f64> {
    let products = (1..TRIED).map(f64::from).map(|number| (number, number * decimal));
    let missed = products.map(|(number, product)| (number, product, product.round()));
    let missed = missed.filter(|(_, product, whole)| (product - whole).abs() < 1e-9 && product != whole);
    let mut sides: [Option<[f64; 2]>; 2] = [None, None];
    for (number, product, whole) in missed {
        sides[usize::from(product > whole)].get_or_insert([number, whole]);
    }
    sides.into_iter().flatten().flatten().collect()
}

fn edges(place: Place<'_>, choices: &mut Choices) {
    let Place { pool, base, .. } = place;
    if let (Some((least, most)), true) = (place.range.or(pool.range), wide(base)) {
        choices.add(Tier::More, [least, most].iter().filter_map(|number| Value::Int(*number).into_base(base)));
    }
    if !pool.looks.any(Looks::SUMMED | Looks::ORDERED | Looks::CAST | Looks::MEASURED) {
        return;
    }
    let ends: &[i64] = match base {
        Base::Int16 => &[i16::MAX as i64, i16::MIN as i64],
        Base::Int32 => &[i32::MAX as i64, i32::MIN as i64],
        Base::Int64 => &[i32::MAX as i64 + 1, 9_007_199_254_740_993, i64::MAX, i64::MIN],
        _ => &[],
    };
    choices.add(Tier::Edge, ends.iter().map(|number| Value::Int(*number)));
    if *base == Base::Float64 {
        choices.add(Tier::Edge, [1e300, 9_007_199_254_740_992.0, -0.0].map(Value::Real));
    }
}

fn wide(base: &Base) -> bool {
    matches!(base, Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 | Base::Numeric)
}

/// The numbers among values, as far as a type holds them.
fn constants(place: Place<'_>, values: &[Value]) -> Vec<f64> {
    let mut numbers: Vec<f64> = Vec::new();
    for value in values {
        let number = match value {
            Value::Int(n) => *n as f64,
            Value::Real(r) => *r,
            Value::Bool(truth) => f64::from(u8::from(*truth)),
            Value::Text(text) => match text.trim().parse() {
                Ok(number) => number,
                Err(_) => continue,
            },
            _ => continue,
        };
        if number.is_finite() && self::value(number, place.base).is_some() && !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers
}

#[expect(clippy::cast_possible_truncation, reason = "whole numbers within the widths of integers")]
fn value(number: f64, base: &Base) -> Option<Value> {
    match base {
        Base::Float64 => Some(Value::Real(number)),
        Base::Numeric | Base::Stored(_) if number.fract() != 0.0 => Some(Value::Real(number)),
        _ if number.fract() == 0.0 && number.abs() < 9e15 => match base {
            Base::Stored(_) => Some(Value::Int(number as i64)),
            base => Value::Int(number as i64).into_base(base),
        },
        // A fraction that a whole number is held against lies between two of them.
        _ if number.abs() < 9e15 => Value::Int(number.floor() as i64).into_base(base),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{halves, inexact, solutions};

    #[test]
    fn halves_are_tried_where_a_constant_divides_or_is_multiplied_with() {
        assert_eq!(halves(&[100.0, 1.0], false), [250.0, 150.0]);
        assert_eq!(halves(&[0.25], false), [10.0, 6.0]);
        assert_eq!(halves(&[10.0], true), [25.0, 15.0, 0.25, 0.15]);
    }

    #[test]
    fn products_with_a_decimal_are_tried_where_binary_fractions_miss_them() {
        assert!(solutions(&[0.1, 0.3]).contains(&3.0));
        assert!(solutions(&[0.9, 0.1]).contains(&1.0));
        for decimal in [0.7, 1.1, 1.15] {
            let found = inexact(decimal);
            assert!(!found.is_empty(), "{decimal}");
            assert!(found.chunks(2).all(|pair| pair[0] * decimal != pair[1]), "{decimal}: {found:?}");
        }
        assert!(inexact(0.5).is_empty() && inexact(0.25).is_empty());
    }
}
