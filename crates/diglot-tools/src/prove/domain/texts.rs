//! Texts: the constants, what patterns match and just miss, twins in case and language, digits where they are numbers.

use super::{Choices, Place, Tier};
use crate::prove::pool::as_text_of_uuid;
use crate::prove::uses::Looks;
use diglot::types::Base;
use diglot::value::Value;

/// How many constants of other comparisons count.
const NEAR: usize = 6;
/// The longest text that is made for the sake of its length.
const MEASURED: i64 = 40;

pub(super) fn add(place: Place<'_>, choices: &mut Choices) {
    let Place { pool, .. } = place;
    let looks = pool.looks;
    let met = texts(&pool.literals);
    let near: Vec<String> = texts(&pool.near).into_iter().filter(|text| !met.contains(text)).take(NEAR).collect();
    let mut add = |tier: Tier, texts: &[&str]| choices.add(tier, texts.iter().map(|text| Value::Text((*text).into())));
    for text in &met {
        if looks.any(Looks::MATCHED) && text.contains(['%', '_']) {
            let (matched, missed) = of_pattern(text);
            matched.iter().for_each(|text| add(Tier::Core, &[text.as_str()]));
            missed.iter().for_each(|text| add(Tier::More, &[text.as_str()]));
        }
        let tier = if looks.any(Looks::MATCHED) && !place.fixed { Tier::More } else { Tier::Core };
        add(if text.contains(['%', '_']) { tier } else { Tier::Core }, &[text.as_str()]);
    }
    texts(&pool.checked).iter().for_each(|text| add(Tier::Core, &[text.as_str()]));
    // What all of the constants are not; where there is none, what one and another place have.
    add(Tier::Core, if met.is_empty() { &["ab", "b"] } else { &["b"] });
    if looks.any(Looks::MEASURED | Looks::CAST) {
        near.iter().for_each(|text| add(Tier::Core, &[text.as_str()]));
    }
    if looks.any(Looks::EQUAL | Looks::MATCHED) {
        // A collation may not see the case of letters, and LIKE may not either.
        add(if looks.any(Looks::MATCHED) { Tier::Core } else { Tier::More }, &["AB"]);
    }
    if looks.any(Looks::ORDERED) {
        add(Tier::Core, &["a", "B"]);
        add(Tier::More, &["Ä", "a b", "a-b", "z", "10", "9"]);
    }
    texts(&pool.words).iter().take(NEAR).for_each(|word| add(Tier::More, &[word.as_str()]));
    for text in met.iter().chain(&near).filter(|text| text.chars().any(char::is_alphabetic)).take(2) {
        let twin: String = text.chars().map(turned).collect();
        add(if looks.any(Looks::CASED | Looks::MATCHED) { Tier::Core } else { Tier::More }, &[twin.as_str()]);
        add(Tier::More, &[&format!("{text}x"), &format!("{text} "), &format!("x{text}")]);
        let fewer: String = text.chars().take(text.chars().count().saturating_sub(1)).collect();
        add(Tier::More, &[fewer.as_str()]);
    }
    if looks.any(Looks::CASED) {
        add(Tier::Core, &["AB", "ab", "Ä", "ä"]);
        add(Tier::More, &["aB", "ß"]);
    }
    if looks.any(Looks::MATCHED) {
        add(Tier::More, &["AB", "abc", "xab", "a%b", "a_b", "a\\b", "ä", "AB%", "a_", "ab%", "%b%", "a\\%", "%"]);
    }
    measured(place, choices);
}

/// What functions of texts tell apart.
fn measured(place: Place<'_>, choices: &mut Choices) {
    let looks = place.pool.looks;
    let mut add = |tier: Tier, texts: &[&str]| choices.add(tier, texts.iter().map(|text| Value::Text((*text).into())));
    if looks.any(Looks::MEASURED) {
        for length in place.pool.near.iter().chain(&place.pool.literals) {
            let Value::Int(length @ 1..=MEASURED) = length else { continue };
            for (tier, count) in [(Tier::Core, *length), (Tier::Core, length + 1), (Tier::Core, length - 1)] {
                add(tier, &[letters(count).as_str()]);
            }
        }
        add(Tier::Core, &[""]);
        add(Tier::More, &["äöü", "a b", " ab ", "a,b", "abcdefghijkl", "7"]);
    }
    if looks.any(Looks::CAST) {
        add(Tier::Core, &["7", "10"]);
        add(Tier::More, &["007", "1.5", "-1", "7x", "7x8", "true", ""]);
        // What stands behind so many letters.
        for from in place.pool.near.iter().filter(|_| looks.any(Looks::MEASURED)) {
            let Value::Int(from @ 2..=MEASURED) = from else { continue };
            let before = letters(from - 1);
            add(Tier::Core, &[&format!("{before}7"), &format!("{before}7x8")]);
            add(Tier::More, &[&format!("{before}x7"), &format!("{before}-7"), &format!("{before} 7")]);
        }
    }
    if looks.any(Looks::MOMENT | Looks::CLOCK) {
        super::times::written(place, choices);
    }
    if !looks.is_none() {
        choices.add(Tier::More, [Value::Text(String::new())]);
    }
}

/// So many letters.
fn letters(count: i64) -> String {
    ('a'..='z').cycle().take(usize::try_from(count).unwrap_or(0)).collect()
}

/// Texts that a pattern matches, in each reading of its backslashes, and texts that it just misses.
fn of_pattern(pattern: &str) -> (Vec<String>, Vec<String>) {
    let fill = |many: &str, one: &str, is_escape: bool| {
        let (mut text, mut letters) = (String::new(), pattern.chars());
        while let Some(letter) = letters.next() {
            match letter {
                '\\' if is_escape => text.extend(letters.next()),
                '%' => text.push_str(many),
                '_' => text.push_str(one),
                letter => text.push(letter),
            }
        }
        text
    };
    let mut matched = vec![fill("", "x", true), fill("y", "x", true)];
    if pattern.contains('\\') {
        matched.push(fill("", "x", false));
    }
    let turned: String = fill("", "x", true).chars().map(turned).collect();
    matched.push(turned);
    (matched, vec![fill("", "", true), fill("", "xx", true), fill("x", "_", true), format!("z{}", fill("", "x", true))])
}

fn texts(values: &[Value]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for value in values {
        let text = match value {
            Value::Text(text) => text.clone(),
            value @ Value::Uuid(_) => match as_text_of_uuid(value) {
                Value::Text(text) => text,
                _ => continue,
            },
            value => match value.clone().into_base(&Base::Text) {
                Some(Value::Text(text)) => text,
                _ => continue,
            },
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// A capital as a small letter, and the other way round.
fn turned(letter: char) -> char {
    let mut other: Vec<char> =
        if letter.is_uppercase() { letter.to_lowercase().collect() } else { letter.to_uppercase().collect() };
    if other.len() == 1 { other.remove(0) } else { letter }
}
