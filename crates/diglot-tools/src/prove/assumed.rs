//! Which values an assumption of `[assume]` excludes, and which of a case are edges.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::cases::Case;
use super::databases::edge_spots;
use super::domain::{Choice, Tier};
use super::subject::{self, Subject};
use super::uses::Key;
use diglot::config::{Assume, Assumption};
use diglot::value::{Value, microseconds};

/// A place as assumptions name it: a column of a table, or a parameter of a statement.
pub(super) type Named = (String, String);

/// 2^53: beyond it a double no longer tells whole numbers apart.
const EXACT: i64 = 9_007_199_254_740_992;
/// From here on a number that stands for a time counts milliseconds.
const MILLISECONDS: i64 = 1_000_000_000_000;
/// What is far from today where nothing is said of a range: before 1970, and from 2100 on, in seconds.
const FAR: (i64, i64) = (0, 4_102_444_800);

/// What excludes a value of a place in a document or elsewhere; none where it is data that any program may write.
pub(super) fn excludes(value: &Value, is_member: bool) -> Option<Assumption> {
    match value {
        Value::Int(n) => of_whole(*n),
        Value::Real(r) if !r.is_finite() || (*r == 0.0 && r.is_sign_negative()) => Some(Assumption::FloatsAreFinite),
        Value::Real(_) => Some(Assumption::NumbersFit),
        Value::Text(text) if text.contains('\0') => Some(Assumption::TextsHaveNoNul),
        Value::Text(text) => match microseconds(text)? {
            moment if is_far(moment.div_euclid(1_000_000)) => Some(Assumption::TimesBetween),
            moment if moment.rem_euclid(1_000_000) != 0 => Some(Assumption::TimesInSeconds),
            _ => None,
        },
        Value::Json(json) => of_document(json, is_member),
        Value::List(items) => items.iter().find_map(|item| excludes(item, is_member)),
        _ => None,
    }
}

fn of_whole(n: i64) -> Option<Assumption> {
    let ends = [i16::MAX.into(), i16::MIN.into(), i32::MAX.into(), i32::MIN.into(), i64::from(i32::MAX) + 1];
    if ends.contains(&n) || n.unsigned_abs() >= EXACT.unsigned_abs() {
        Some(Assumption::NumbersFit)
    } else if is_far(in_seconds(n)) {
        Some(Assumption::TimesBetween)
    } else {
        None
    }
}

fn of_document(json: &Json, is_member: bool) -> Option<Assumption> {
    match json {
        Json::Number(n) if is_member && n.is_f64() => Some(Assumption::NumbersFit),
        Json::Number(n) if is_member => n.as_i64().map_or(Some(Assumption::NumbersFit), of_whole),
        // A text of a member is data like any other.
        Json::String(_) | Json::Bool(_) | Json::Null if is_member => None,
        _ if is_member || json.is_object() => Some(Assumption::MembersKeepKind),
        _ => Some(Assumption::DocumentsAreObjects),
    }
}

fn is_far(seconds: i64) -> bool {
    !(FAR.0..FAR.1).contains(&seconds)
}

/// A number that stands for a time, in seconds.
fn in_seconds(n: i64) -> i64 {
    if n.unsigned_abs() >= MILLISECONDS.unsigned_abs() || n == FAR_DAY_MS { n / 1_000 } else { n }
}

/// A day before 1970 in milliseconds.
const FAR_DAY_MS: i64 = -86_400_000;

/// Whether what is assumed of a place keeps a value out of it.
fn is_kept_out(assume: &Assume, what: Assumption, value: &Value, (owner, name): &Named) -> bool {
    if what != Assumption::TimesBetween {
        return assume.holds(what, owner, name);
    }
    let Some((from, to)) = assume.times(owner, name) else { return false };
    let moment = match value {
        Value::Int(n) => in_seconds(*n).saturating_mul(1_000_000),
        Value::Text(text) => microseconds(text).unwrap_or(from),
        _ => from,
    };
    !(from..to).contains(&moment)
}

/// The values of a place without those that are assumed away, and with what.
pub(super) fn kept(
    assume: &Assume,
    places: &[Named],
    is_member: bool,
    choices: Vec<Choice>,
) -> (Vec<Choice>, BTreeSet<Assumption>) {
    let mut without = BTreeSet::new();
    if assume.is_empty() {
        return (choices, without);
    }
    let is_out = |choice: &Choice| {
        let value = choice.value.as_ref().filter(|_| choice.tier == Tier::Edge)?;
        let what = excludes(value, is_member)?;
        places.iter().any(|place| is_kept_out(assume, what, value, place)).then_some(what)
    };
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for choice in choices {
        match is_out(&choice) {
            Some(what) => left_out.push(what),
            None => kept.push(choice),
        }
    }
    without.extend(left_out);
    (kept, without)
}

impl Subject {
    /// What few programs write of that which a case holds, by the assumption that excludes it: the columns, as
    /// `table.column`, and the parameters, as `statement.parameter`.
    pub fn edges(&self, case: &Case) -> BTreeMap<Assumption, BTreeSet<String>> {
        let mut edges: BTreeMap<Assumption, BTreeSet<String>> = BTreeMap::new();
        for (what, key, _) in self.held_edges(case) {
            let (owner, name) = self.named_place(&key);
            edges.entry(what).or_default().insert(format!("{owner}.{name}"));
        }
        edges
    }

    /// Whether a case holds what is assumed to be in none.
    pub fn is_assumed_away(&self, case: &Case) -> bool {
        let is_out = |(what, key, value): (Assumption, Key, Value)| {
            self.assumed_places(&key).iter().any(|place| is_kept_out(&self.assume, what, &value, place))
        };
        !self.assume.is_empty() && self.held_edges(case).into_iter().any(is_out)
    }

    /// What few programs write of that which a case holds, with its place and the assumption that excludes it.
    fn held_edges(&self, case: &Case) -> Vec<(Assumption, Key, Value)> {
        let mut free = self.clone();
        free.assume = Assume::default();
        let mut edges = Vec::new();
        for spot in edge_spots(&free) {
            let held: Vec<&Value> = match &spot.key {
                Key::Column(table, column) => {
                    case.rows.get(table).into_iter().flatten().filter_map(|row| row.get(column)).collect()
                }
                Key::Param(name) => self.given_values(case, name),
                Key::Json(..) => continue,
            };
            for value in spot.values {
                let Some(what) = excludes(&value, !spot.path.is_empty()) else { continue };
                if held.iter().any(|held| holds(held, &spot.path, &value)) {
                    edges.push((what, spot.key.clone(), value));
                }
            }
        }
        edges
    }

    /// What a case gives to a parameter, or to a field of the rows that a statement takes.
    fn given_values<'c>(&self, case: &'c Case, name: &str) -> Vec<&'c Value> {
        let of_rows = self.rows.as_ref().and_then(|rows| {
            let at = rows.fields.iter().position(|field| subject::of_rows(rows, field).name == name)?;
            let Some(Value::List(list)) = case.args.get(&rows.name) else { return None };
            let field = |row: &'c Value| match row {
                Value::List(fields) => fields.get(at),
                _ => None,
            };
            Some(list.iter().filter_map(field).collect())
        });
        of_rows.unwrap_or_else(|| case.args.get(name).into_iter().collect())
    }

    /// A column or a parameter as assumptions name it.
    fn named_place(&self, key: &Key) -> Named {
        match key {
            Key::Column(table, column) => (table.clone(), column.clone()),
            Key::Param(name) => (self.name.clone(), name.clone()),
            Key::Json(of, _) => self.named_place(of),
        }
    }

    /// The places whose assumptions hold for one: itself, and for a parameter the columns that it meets.
    pub(super) fn assumed_places(&self, key: &Key) -> Vec<Named> {
        let mut places = vec![self.named_place(key)];
        if let (Key::Param(_), Some(pool)) = (key, self.pool_of.get(key)) {
            let met = self.pool_of.iter().filter(|(other, of)| *of == pool && matches!(other, Key::Column(..)));
            places.extend(met.map(|(other, _)| self.named_place(other)));
        }
        places
    }
}

/// Whether a value is the one that is meant, or has it in its place as a document.
fn holds(held: &Value, path: &[String], value: &Value) -> bool {
    if path.is_empty() {
        let spelled = |json: &Json| Value::Text(json.to_string());
        return held == value || matches!(value, Value::Json(json) if *held == spelled(json));
    }
    let parsed;
    let document = match held {
        Value::Json(json) => json,
        Value::Text(text) => match serde_json::from_str(text) {
            Ok(json) => {
                parsed = json;
                &parsed
            }
            Err(_) => return false,
        },
        _ => return false,
    };
    let at = path.iter().try_fold(document, |json, step| match step.parse::<usize>() {
        Ok(at) if json.is_array() => json.get(at),
        _ => json.get(step),
    });
    matches!((at, value), (Some(at), Value::Json(json)) if at == json)
}
