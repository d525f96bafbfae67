//! The values that a column or a parameter may hold: what a statement asks for, what other statements write, and
//! the edges of its type.

use serde_json::{Map, Value as Json, json};

use super::random::Random;
use super::uses::Looks;
use diglot::types::{Base, Of};
use diglot::value::{Value, hyphenated};

/// What is known about the values of columns and parameters that meet.
#[derive(Debug, Clone, Default)]
pub(super) struct Pool {
    /// Literals of the statement itself.
    pub(super) literals: Vec<Value>,
    /// Literals of other statements, and the words that the project allows.
    pub(super) words: Vec<Value>,
    /// Texts that a CHECK may let through.
    pub(super) checked: Vec<Value>,
    /// The words are all that there is.
    pub(super) closed: bool,
    /// The least and the greatest number.
    pub(super) range: Option<(i64, i64)>,
    /// Between which numbers a CHECK keeps a column of them: what meets it is tried there, and may be anything.
    pub(super) kept: Option<(i64, i64)>,
    /// One page alone has it, so it holds one value everywhere.
    pub(super) constant: bool,
    /// It bounds how many rows come.
    pub(super) bound: bool,
    /// LIKE looks at it.
    pub(super) pattern: bool,
    /// NULL is asked for.
    pub(super) null: bool,
    /// Some of its places are of the type UUID.
    pub(super) ids: bool,
    /// How its places are looked at.
    pub(super) looks: Looks,
    /// Literals that stand in one comparison or computation with them.
    pub(super) near: Vec<Value>,
}

/// How values are drawn in one case: the main value of a pool stands in most places, so that rows find each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mood {
    /// In how many of a hundred places the main value stands.
    pub(super) main: usize,
    /// In how many of a hundred nullable places NULL stands.
    pub(super) null: usize,
    /// In how many of a hundred pools the main value is an edge of its type.
    pub(super) edge: usize,
}

const WORDS: [&str; 4] = ["a", "b", "B", "c"];
/// Text that sorts differently under collations, that LIKE reads as a pattern, that looks like something else.
const EDGES: [&str; 24] = [
    "", "A", "Ä", "ä", "z", "Z", "é", "e", "ß", "a%b", "a_b", "%", "_", "a\\b", "it's", "10", "9", "007", "1.5", "a b",
    "a-b", "ab", "null", "日本",
];

impl Pool {
    /// Nothing is known.
    pub(super) const NOTHING: Pool = Pool {
        literals: Vec::new(),
        words: Vec::new(),
        checked: Vec::new(),
        closed: false,
        range: None,
        kept: None,
        constant: false,
        bound: false,
        pattern: false,
        null: false,
        ids: false,
        looks: Looks::NONE,
        near: Vec::new(),
    };

    /// Values that a column of this type may hold, the plainest first.
    pub(super) fn values(&self, base: &Base) -> Vec<Value> {
        if self.constant {
            return vec![plain(base, 0)];
        }
        let mut values: Vec<Value> = Vec::new();
        let fitting = |value: &Value| value.clone().into_base(base);
        values.extend(self.literals.iter().filter_map(fitting));
        values.extend(self.words.iter().filter_map(fitting));
        let is_listed = self.closed && !values.is_empty();
        if !is_listed {
            values.extend((0..4).map(|at| plain(base, at)));
            values.extend(self.edges(base));
            values.extend(self.checked.iter().filter_map(fitting));
        }
        values.retain(|value| self.allows(value));
        let mut kept: Vec<Value> = Vec::new();
        for value in values {
            if !kept.contains(&value) {
                kept.push(value);
            }
        }
        if kept.is_empty() {
            let least = self.range.and_then(|(least, _)| Value::Int(least).into_base(base));
            kept.push(least.unwrap_or_else(|| plain(base, 0)));
        }
        kept
    }

    pub(super) fn allows(&self, value: &Value) -> bool {
        match (value, self.range) {
            (Value::Int(n), Some((least, most))) => (least..=most).contains(n),
            (Value::Real(r), Some((least, most))) => {
                (least as f64..=most as f64).contains(r) && (*r != 0.0 || r.is_sign_positive() || least < 0)
            }
            // A negative bound is no bound on SQLite and an error on Postgres; who binds one declares it.
            (Value::Int(n), None) if self.bound => (0..=1000).contains(n),
            _ => true,
        }
    }

    fn edges(&self, base: &Base) -> Vec<Value> {
        let mut values: Vec<Value> = match base {
            Base::Int16 => [-1, 10, i64::from(i16::MIN), i64::from(i16::MAX)].map(Value::Int).to_vec(),
            Base::Int32 => [-1, 10, i64::from(i32::MIN), i64::from(i32::MAX)].map(Value::Int).to_vec(),
            Base::Int64 => [-1, 10, 1000, i64::from(i32::MAX) + 1, 9_007_199_254_740_993, i64::MIN, i64::MAX]
                .map(Value::Int)
                .to_vec(),
            // The last one is what the integer beside it above becomes as a float.
            Base::Float64 => [0.5, 1.5, 2.5, -1.5, 0.1, 1e300, 9_007_199_254_740_992.0].map(Value::Real).to_vec(),
            // As texts they stand in another order.
            Base::Numeric => [9, 10, -1, 100].map(Value::Int).to_vec(),
            Base::Stored(stored) if stored.of == Of::Decimal => self.edges(&Base::Numeric),
            Base::Text => EDGES.map(|text| Value::Text(text.into())).to_vec(),
            Base::Bytes => vec![Value::Bytes(vec![]), Value::Bytes(vec![0, 255]), Value::Bytes(b"a".to_vec())],
            Base::Uuid => vec![Value::Uuid([0; 16]), Value::Uuid([255; 16])],
            _ => Vec::new(),
        };
        if let (Some((least, most)), Base::Int16 | Base::Int32 | Base::Int64) = (self.range, base) {
            values.extend([least, most].map(Value::Int));
        }
        if self.pattern && *base == Base::Text {
            values.extend(["a%", "A%", "%b", "_", "a\\%b"].map(|text| Value::Text(text.into())));
        }
        values
    }

    /// The value that stands in most places of a case.
    pub(super) fn main(&self, random: &mut Random, base: &Base, mood: Mood) -> Value {
        let values = self.values(base);
        let literals: Vec<&Value> = values.iter().filter(|value| is_among(value, &self.literals, base)).collect();
        let words: Vec<&Value> = values.iter().filter(|value| is_among(value, &self.words, base)).collect();
        let checked: Vec<&Value> = values.iter().filter(|value| is_among(value, &self.checked, base)).collect();
        let list = if !literals.is_empty() && random.percent(75) {
            literals
        } else if !words.is_empty() && random.percent(80) {
            words
        } else if !checked.is_empty() && random.percent(60) {
            checked
        } else if random.percent(mood.edge) {
            values.iter().collect()
        } else {
            let plain: Vec<&Value> =
                values.iter().filter(|value| (0..4).any(|at| **value == plain(base, at))).collect();
            if plain.is_empty() { values.iter().collect() } else { plain }
        };
        random.pick(&list).map_or(Value::Null, |value| (*value).clone())
    }
}

fn is_among(value: &Value, list: &[Value], base: &Base) -> bool {
    list.iter().any(|item| item.clone().into_base(base).as_ref() == Some(value))
}

/// One of the plain values of a type. Those of text and UUID with the same number are the same id.
pub(super) fn plain(base: &Base, at: usize) -> Value {
    let number = u8::try_from(at).unwrap_or(0);
    match base {
        Base::Bool => Value::Bool(at.is_multiple_of(2)),
        Base::Int16 | Base::Int32 | Base::Int64 | Base::Numeric => Value::Int(i64::from(number)),
        Base::Float64 => Value::Real(f64::from(number)),
        Base::Text => Value::Text(WORDS[at % WORDS.len()].into()),
        Base::Bytes => Value::Bytes(vec![number + 1]),
        Base::Uuid => Value::Uuid(uuid(number)),
        Base::Json => Value::Json(json!({})),
        Base::Timestamp | Base::DateTime => Value::Text(format!("2024-01-0{} 00:00:00", number + 1)),
        Base::Date => Value::Text(format!("2024-01-0{}", number + 1)),
        Base::TimeOfDay => Value::Text(format!("0{number}:00:00")),
        Base::Enum(words) => match words.words.len() {
            0 => Value::Null,
            count => Value::Text(words.words[at % count].clone()),
        },
        Base::Interval => Value::Text(format!("{number} hours")),
        Base::Stored(stored) => plain(&stored.of.base(), at),
        Base::TextArray | Base::Int64Array | Base::UuidArray => Value::List(Vec::new()),
    }
}

/// UUIDs that sort otherwise as bytes than by their first digit, of the version that programs make.
fn uuid(number: u8) -> [u8; 16] {
    let mut id = [0x11_u8.wrapping_mul(number.wrapping_mul(5).wrapping_add(1)); 16];
    id[6] = 0x40 | (id[6] & 0x0f);
    id[8] = 0x80 | (id[8] & 0x3f);
    id[15] = number;
    id
}

/// The text of an id where a text column meets a UUID.
pub(super) fn as_text_of_uuid(value: &Value) -> Value {
    match value {
        Value::Uuid(id) => Value::Text(hyphenated(id)),
        value => value.clone(),
    }
}

/// A value inside a JSON document: mostly as a program would write it, and in odd cases as it should not be, as far
/// as what is declared of the place allows.
pub(super) fn json_leaf(random: &mut Random, value: &Value, declared: Option<&str>, odd: bool) -> Option<Json> {
    if odd && random.percent(30) {
        if declared.is_some_and(|kind| kind.ends_with("[]")) {
            return None;
        }
        return random.percent(50).then_some(Json::Null);
    }
    match declared {
        Some("text") if !odd => {}
        Some(kind) if KINDS.contains(&kind) => return Some(declared_value(random, value, kind)),
        Some("digits" | "number") => return declared.map(|kind| declared_leaf(random, kind)),
        Some("text") if odd => return Some(declared_leaf(random, "text")),
        _ if odd => {
            if let (Some(twin), true) = (twin(value), random.percent(40)) {
                return Some(twin);
            }
            return Some(match random.below(7) {
                0 => json!(true),
                1 => json!("7"),
                2 => json!(7),
                3 => json!({"a": [1, null]}),
                4 => json!(""),
                5 => json!(1.5),
                _ => json!("ä \"quoted\""),
            });
        }
        _ => {}
    }
    Some(match value {
        Value::Null => return None,
        Value::Bool(b) if declared.is_none() => json!(b),
        Value::Int(n) if declared.is_none() => json!(n),
        Value::Real(r) if declared.is_none() => json!(r),
        Value::Json(json) => json.clone(),
        Value::Text(text) => json!(text),
        value => json!(value.to_string()),
    })
}

/// What `[json]` says behind the kind of a place that no document lacks.
pub(super) const ALWAYS: &str = " always";

/// What `[json]` may say of a place.
const KINDS: [&str; 9] = ["i64", "f64", "bool", "i64 or text", "f64 or text", "text[]", "i64[]", "f64[]", "bool[]"];

/// What `[json]` allows in a place, in half of them what meets it.
pub(super) fn declared_value(random: &mut Random, value: &Value, kind: &str) -> Json {
    if let Some(item) = kind.strip_suffix("[]") {
        return (0..random.below(4)).map(|_| declared_value(random, value, item)).collect();
    }
    if let Some(number) = kind.strip_suffix(" or text") {
        let number = declared_value(random, value, number);
        return if random.percent(50) { json!(number.to_string()) } else { number };
    }
    let is_met = random.percent(50);
    match (kind, value) {
        ("i64", Value::Int(n)) if is_met => json!(n),
        ("f64", Value::Real(r)) if is_met => json!(r),
        ("text", Value::Text(text)) if is_met => json!(text),
        ("i64", _) => json!([0_i64, 1, 2, -1, 1000][random.below(5)]),
        ("f64", _) => json!([0.0, 1.0, 2.5, -1.5][random.below(4)]),
        ("bool", _) => json!(random.percent(50)),
        _ => declared_leaf(random, "text"),
    }
}

/// What `[prove.fields]` allows in a place.
fn declared_leaf(random: &mut Random, kind: &str) -> Json {
    let numbers = [0_i64, 1, 7, 1000, 4_102_444_800_000];
    match kind {
        "number" => json!(numbers[random.below(numbers.len())]),
        "digits" => json!(numbers[random.below(numbers.len())].to_string()),
        _ => json!(["7", "", "ä \"quoted\"", "null", "1.50", "true"][random.below(6)]),
    }
}

/// The same as another kind of value, where there is one: a number that is written as text, text that is a number.
fn twin(value: &Value) -> Option<Json> {
    match value {
        Value::Int(n) => Some(json!(n.to_string())),
        Value::Text(text) => {
            let number: Json = serde_json::from_str(text).ok()?;
            number.is_number().then_some(number)
        }
        _ => None,
    }
}

/// The names of fields in documents that nothing is known of; few, so that documents meet.
pub(super) const FIELDS: [&str; 4] = ["b", "a", "o", "bb"];

/// A document that nothing is known of, a few levels deep.
pub(super) fn any_document(random: &mut Random, depth: usize) -> Json {
    match random.below(if depth == 0 { 7 } else { 10 }) {
        0 => Json::Null,
        1 => json!(random.percent(50)),
        2 => json!(random.below(3)),
        3 => json!(random.below(3) as f64 + 0.5),
        4 => json!(random.below(3) as f64),
        5 => json!("ä \"quoted\""),
        6 => json!("1"),
        7 => (0..random.below(3)).map(|_| any_document(random, depth - 1)).collect(),
        _ => any_object(random, depth - 1, &|_| None),
    }
}

/// The same with fields, which hold what is declared of them.
pub(super) fn any_object<'d>(random: &mut Random, depth: usize, declared: &dyn Fn(&str) -> Option<&'d str>) -> Json {
    let mut fields = Map::new();
    for name in FIELDS {
        if random.percent(50) {
            let value = match declared(name).map(|words| words.strip_suffix(ALWAYS).unwrap_or(words)) {
                None => any_document(random, depth),
                Some("object") => Json::Object(Map::new()),
                Some(kind) if KINDS.contains(&kind) => declared_value(random, &Value::Null, kind),
                Some(kind) => declared_leaf(random, kind),
            };
            fields.insert(name.to_owned(), value);
        }
    }
    Json::Object(fields)
}

/// A document with its whole numbers written as floating-point ones.
pub(super) fn with_points(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(with_points).collect(),
        Json::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), with_points(value))).collect(),
        Json::Number(number) => number.as_f64().map_or(Json::Null, |float| json!(float)),
        json => json.clone(),
    }
}

/// Puts leaves into a document; `*` steps into every element of an array.
pub(super) fn put(document: &mut Json, path: &[String], leaf: &mut dyn FnMut() -> Option<Json>) {
    let Some((step, rest)) = path.split_first() else {
        *document = leaf().unwrap_or(Json::Null);
        return;
    };
    if step == "*" {
        if !document.is_array() {
            *document = json!([null, null]);
        }
        if let Json::Array(items) = document {
            items.iter_mut().for_each(|item| put(item, rest, leaf));
        }
        return;
    }
    if !document.is_object() {
        *document = Json::Object(Map::new());
    }
    let Json::Object(fields) = document else { return };
    if !rest.is_empty() {
        put(fields.entry(step.clone()).or_insert(Json::Null), rest, leaf);
    } else if let Some(leaf) = leaf() {
        fields.insert(step.clone(), leaf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_makes_a_uuid_of_its_own() {
        let ids: std::collections::BTreeSet<_> = (0..=u8::MAX).map(uuid).collect();
        assert_eq!(ids.len(), 256);
    }

    #[test]
    fn a_pool_holds_what_the_statement_asks_for_and_the_edges_of_the_type() {
        let pool = Pool { literals: vec![Value::Text("ready".into())], ..Pool::default() };
        let values = pool.values(&Base::Text);
        assert_eq!(values[0], Value::Text("ready".into()));
        assert!(values.contains(&Value::Text("a%b".into())) && values.contains(&Value::Text("Ä".into())));
        let listed = Pool { closed: true, ..pool };
        assert_eq!(listed.values(&Base::Text), [Value::Text("ready".into())]);
    }

    #[test]
    fn a_range_leaves_its_ends_and_nothing_outside() {
        let pool = Pool { range: Some((0, 7000)), ..Pool::default() };
        let values = pool.values(&Base::Int64);
        assert!(values.contains(&Value::Int(0)) && values.contains(&Value::Int(7000)));
        assert!(values.iter().all(|value| matches!(value, Value::Int(0..=7000))), "{values:?}");
    }

    #[test]
    fn a_document_grows_along_its_paths() {
        let mut document = json!({});
        put(&mut document, &["tags".into(), "x.y".into()], &mut || Some(json!("1")));
        put(&mut document, &["gone".into()], &mut || None);
        let mut number = 0;
        put(&mut document, &["list".into(), "*".into(), "id".into()], &mut || {
            number += 1;
            Some(json!(number))
        });
        assert_eq!(document, json!({"tags": {"x.y": "1"}, "list": [{"id": 1}, {"id": 2}]}));
    }
}
