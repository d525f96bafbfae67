//! The values that are tried in one place: what the pages could tell apart there, and little else.
//!
//! Each value is of the *core* (every constant that the pages hold the place against, its neighbours, NULL), or *more*
//! (forms of the same that ordinary data have), or an *edge*: the end of a width, a document of another kind, a far
//! year. The first value is the one that makes conditions hold.

mod documents;
mod numbers;
mod texts;
mod times;

use super::pool::{self, Pool};
use super::uses::Looks;
use diglot::types::{Base, Of};
use diglot::value::Value;

pub(super) use documents::{beside_others, leaves, of_any_name, whole_lists};

/// How far from the ordinary a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    /// What both pages can tell apart.
    Core,
    /// Other ordinary data.
    More,
    /// What few programs write.
    Edge,
}

/// A value of a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// The value; none where a member of a document is not there.
    pub(super) value: Option<Value>,
    /// What it is.
    pub(super) tier: Tier,
}

/// A place, as far as its values depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// What is known of all places that meet it.
    pub(super) pool: &'a Pool,
    /// Its type.
    pub(super) base: &'a Base,
    /// Whether it may be NULL.
    pub(super) nullable: bool,
    /// Whether one value stands for all, since only other places differ from it.
    pub(super) fixed: bool,
    /// Whether a program gives it, so that what a page holds it against is not what it is.
    pub(super) given: bool,
    /// Texts that are ids.
    pub(super) id: bool,
    /// Between which numbers a CHECK keeps it.
    pub(super) range: Option<(i64, i64)>,
    /// The day of the clock, in days since 1970.
    pub(super) today: i64,
}

/// How many values of the core a place has; what is beyond is tried as *more*.
const CORE: usize = 9;

/// Which of the plain ids, and of the plain bytes, has letters among its hexadecimal digits, as those of most programs do.
const LETTERS: usize = 12;

/// Values in their order, each once.
#[derive(Debug, Default)]
pub(super) struct Choices(pub(super) Vec<Choice>);

impl Choices {
    fn add(&mut self, tier: Tier, values: impl IntoIterator<Item = Value>) {
        for value in values {
            self.push(tier, Some(value));
        }
    }

    pub(super) fn push(&mut self, tier: Tier, value: Option<Value>) {
        match self.0.iter_mut().find(|choice| choice.value == value) {
            Some(choice) => choice.tier = choice.tier.min(tier),
            None => self.0.push(Choice { value, tier }),
        }
    }
}

/// The values of a place, in the order in which they are tried.
pub(super) fn choices(place: Place<'_>) -> Vec<Choice> {
    let Place { pool, base, .. } = place;
    if pool.constant {
        return vec![Choice { value: Some(pool::plain(base, 0)), tier: Tier::Core }];
    }
    let mut choices = Choices::default();
    if pool.bound {
        choices.add(Tier::Core, [1, 2, 0].map(Value::Int));
        choices.add(Tier::More, [3].map(Value::Int));
    } else if !listed(place, &mut choices) {
        of_type(place, &mut choices);
    }
    let is_kept = |value: &Value| match (value, place.range) {
        (Value::Int(n), Some((least, most))) => (least..=most).contains(n),
        _ => true,
    };
    choices.0.retain(|choice| choice.value.as_ref().is_none_or(|value| pool.allows(value) && is_kept(value)));
    if choices.0.is_empty() {
        choices.add(Tier::Core, pool.values(base).into_iter().take(3));
    }
    if place.fixed {
        let mut left = 1;
        choices.0.retain(|choice| choice.tier != Tier::Core || std::mem::replace(&mut left, 0) == 1);
    }
    let mut core = 0;
    for choice in choices.0.iter_mut().filter(|choice| choice.tier == Tier::Core) {
        core += 1;
        if core > CORE {
            choice.tier = Tier::More;
        }
    }
    if place.nullable {
        let asked = pool.looks.any(Looks::NULLED | Looks::EQUAL | Looks::ORDERED | Looks::TRUTH | Looks::SUMMED);
        choices.push(if asked { Tier::Core } else { Tier::More }, Some(Value::Null));
    }
    choices.0
}

/// A value as its type has it, and those on either side of it where the type has an order that neighbours show.
pub(super) fn around(value: Value, base: &Base) -> Vec<Value> {
    match value {
        Value::Int(n) => vec![Value::Int(n), Value::Int(n.saturating_sub(1)), Value::Int(n.saturating_add(1))],
        Value::Text(text) if base.is_time() => times::around(&text, base),
        value => vec![value],
    }
}

/// The words that are all that there is.
fn listed(place: Place<'_>, choices: &mut Choices) -> bool {
    let Place { pool, base, .. } = place;
    let fitting = |value: &Value| value.clone().into_base(base);
    let words: Vec<Value> = pool.words.iter().filter_map(fitting).collect();
    if !pool.closed || words.is_empty() {
        return false;
    }
    let met: Vec<Value> = pool.literals.iter().filter_map(fitting).filter(|value| words.contains(value)).collect();
    let others: Vec<Value> = words.into_iter().filter(|word| !met.contains(word)).collect();
    let few = if pool.looks.any(Looks::ORDERED | Looks::CASED | Looks::MEASURED) { others.len() } else { 2 };
    choices.add(Tier::Core, met);
    choices.add(Tier::Core, others.iter().take(few).cloned());
    choices.add(Tier::More, others);
    true
}

fn of_type(place: Place<'_>, choices: &mut Choices) {
    let Place { pool, base, .. } = place;
    match base {
        Base::Text if place.id => {
            let id = |at| pool::as_text_of_uuid(&pool::plain(&Base::Uuid, at));
            choices.add(Tier::Core, (0..2).map(id));
            choices.add(Tier::More, [id(LETTERS)]);
        }
        Base::Bool => {
            let met = pool.literals.iter().filter_map(|value| value.clone().into_base(base));
            choices.add(Tier::Core, met.chain([true, false].map(Value::Bool)));
        }
        Base::Int16 | Base::Int32 | Base::Int64 if pool.looks.any(Looks::CLOCK | Looks::MOMENT) => {
            times::counted(place, choices);
            numbers::add(place, choices);
        }
        Base::Int16 | Base::Int32 | Base::Int64 | Base::Numeric | Base::Float64 => numbers::add(place, choices),
        Base::Stored(stored) if stored.of == Of::Decimal => numbers::add(place, choices),
        Base::Text => texts::add(place, choices),
        Base::Timestamp | Base::DateTime | Base::Date | Base::TimeOfDay => times::add(place, choices),
        Base::Stored(stored) => {
            let base = stored.of.base();
            of_type(Place { base: &base, ..place }, choices);
        }
        Base::Uuid | Base::Bytes | Base::Enum(_) => {
            choices.add(Tier::Core, pool.literals.iter().filter_map(|value| value.clone().into_base(base)));
            let more = usize::from(pool.looks.any(Looks::ORDERED));
            choices.add(Tier::Core, (0..2 + more).map(|at| pool::plain(base, at)));
            choices.add(Tier::More, [pool::plain(base, LETTERS)]);
            if let Base::Enum(words) = base {
                choices.add(Tier::More, words.words.iter().map(|word| Value::Text(word.clone())));
            }
        }
        Base::TextArray => lists(place, &Base::Text, choices),
        Base::Int64Array => lists(place, &Base::Int64, choices),
        Base::UuidArray => lists(place, &Base::Uuid, choices),
        Base::Json => choices.add(Tier::Core, [pool::plain(base, 0)]),
        Base::Interval => choices.add(Tier::Core, (0..3).map(|at| pool::plain(base, at))),
    }
}

/// Lists of what the place meets: of one, of none, of two, of another one.
fn lists(place: Place<'_>, item: &Base, choices: &mut Choices) {
    let of = self::choices(Place { base: item, nullable: false, fixed: false, ..place });
    let items: Vec<Value> =
        of.into_iter().filter(|item| item.tier == Tier::Core).filter_map(|item| item.value).collect();
    let Some(first) = items.first().cloned() else { return choices.add(Tier::Core, [Value::List(Vec::new())]) };
    choices.add(Tier::Core, [Value::List(vec![first.clone()]), Value::List(Vec::new())]);
    for other in items.iter().skip(1).take(3) {
        choices.add(Tier::Core, [Value::List(vec![first.clone(), other.clone()])]);
        choices.add(Tier::More, [Value::List(vec![other.clone()]), Value::List(vec![other.clone(), first.clone()])]);
    }
    choices.add(Tier::More, [Value::List(vec![first.clone(), first])]);
}
