//! What stands in a place of a JSON document: absent, null, and of each kind.

use serde_json::{Value as Json, json};

use super::{Choice, Choices, Place, Tier, choices};
use crate::prove::pool::ALWAYS;
use crate::prove::uses::Looks;
use diglot::types::Base;
use diglot::value::Value;

/// The values of a place in a document; what is declared of it is what it may hold. A place above others holds an object.
pub(crate) fn leaves(place: Place<'_>, declared: Option<&str>, is_parent: bool) -> Vec<Choice> {
    let is_always = declared.is_some_and(|kind| kind.ends_with(ALWAYS));
    let kind = declared.map(|kind| kind.strip_suffix(ALWAYS).unwrap_or(kind));
    let mut all = Choices::default();
    let json = |json: Json| Value::Json(json);
    match kind {
        _ if is_parent && kind.is_none_or(|kind| !kind.ends_with("[]")) => all.add(Tier::Core, [json(json!({}))]),
        Some(kind) => {
            for (tier, value) in of_kind(place, kind) {
                all.add(tier, [json(value)]);
            }
        }
        None => free(place, &mut all),
    }
    if !is_always {
        all.push(Tier::Core, None);
    }
    let is_asked = place.pool.null || place.pool.looks.any(Looks::NULLED);
    if !is_always && (kind.is_none() || is_asked) && kind.is_none_or(|kind| !kind.ends_with("[]")) {
        all.push(if is_asked { Tier::Core } else { Tier::More }, Some(json(Json::Null)));
    }
    all.0
}

/// The lists that a document may be: of none, of one, of two, of the same twice, in another order, of another one.
pub(crate) fn whole_lists(place: Place<'_>, kind: Option<&str>) -> Vec<Choice> {
    let of_kind = kind.map(|kind| of_kind(place, kind));
    let items: Vec<(Tier, Json)> = of_kind.unwrap_or_else(|| {
        let mut items = Choices::default();
        free(place, &mut items);
        let json = |choice: Choice| match choice.value {
            Some(Value::Json(json)) => Some((choice.tier, json)),
            _ => None,
        };
        items.0.into_iter().filter_map(json).collect()
    });
    let mut all = Choices::default();
    let mut add = |tier: Tier, list: &[&Json]| {
        all.add(tier, [Value::Json(Json::Array(list.iter().map(|item| (*item).clone()).collect()))]);
    };
    let Some(((_, first), rest)) = items.split_first() else { return Vec::new() };
    add(Tier::Core, &[first]);
    add(Tier::Core, &[]);
    for (at, (tier, other)) in rest.iter().enumerate() {
        let tier = if at == 0 { Tier::Core } else { (*tier).max(Tier::More) };
        add(tier, &[first, other]);
        add(tier, &[other]);
        add(tier.max(Tier::More), &[other, first]);
    }
    add(Tier::Core, &[first, first]);
    all.0
}

/// Documents with one member, which the documents that they meet have as well: as it may be, missing, and where nothing
/// is declared of it null, an object of one and of another member, and a list.
pub(crate) fn beside_others(name: &str, leaves: &[Choice], is_free: bool) -> Vec<Choice> {
    let mut all = Choices::default();
    let mut add = |tier: Tier, member: Json| {
        let document = [(name.to_owned(), member)].into_iter().collect();
        all.add(tier, [Value::Json(Json::Object(document))]);
    };
    let members = leaves.iter().filter(|leaf| leaf.tier == Tier::Core).filter_map(|leaf| match &leaf.value {
        Some(Value::Json(json)) => Some(json.clone()),
        _ => None,
    });
    members.take(2).for_each(|member| add(Tier::Core, member));
    if is_free {
        for member in [Json::Null, json!({"x": 1}), json!({"y": 2}), json!([1]), json!({"x": null})] {
            add(Tier::Core, member);
        }
    }
    all.add(Tier::Core, [Value::Json(json!({}))]);
    all.0
}

/// Objects of no member, of one and of two: what the first has meets them first, and then every other value stands in one.
pub(crate) fn of_any_name(names: &[String], leaves: &[Choice]) -> Vec<Choice> {
    let values: Vec<(Tier, &Json)> = leaves
        .iter()
        .filter_map(|leaf| match &leaf.value {
            Some(Value::Json(json)) => Some((leaf.tier, json)),
            _ => None,
        })
        .collect();
    let ([one, other], Some((&(_, first), rest))) = (names, values.split_first()) else { return Vec::new() };
    let mut all = Choices::default();
    let mut add = |tier: Tier, members: &[(&String, &Json)]| {
        let object = members.iter().map(|(name, value)| ((*name).clone(), (*value).clone())).collect();
        all.add(tier, [Value::Json(Json::Object(object))]);
    };
    add(Tier::Core, &[(one, first)]);
    add(Tier::Core, &[]);
    add(Tier::Core, &[(other, first)]);
    add(Tier::Core, &[(one, first), (other, rest.first().map_or(first, |&(_, value)| value))]);
    for &(tier, value) in rest {
        add(tier, &[(one, value)]);
        add(tier.max(Tier::More), &[(one, first), (other, value)]);
    }
    all.0
}

/// What nobody declares: as the page has it, the same as another kind, and any kind.
fn free(place: Place<'_>, all: &mut Choices) {
    let base = match place.pool.literals.iter().chain(&place.pool.words).next() {
        Some(Value::Int(_)) => Base::Int64,
        Some(Value::Real(_)) => Base::Float64,
        Some(Value::Bool(_)) => Base::Bool,
        _ => Base::Text,
    };
    let of_type = choices(Place { base: &base, nullable: false, ..place });
    let mut twins = Vec::new();
    for choice in of_type {
        let Some(value) = choice.value else { continue };
        let document = document(&value);
        twins.extend(twin(&document).map(|twin| (choice.tier, twin)));
        all.add(choice.tier, [Value::Json(document)]);
    }
    // `true` and `7` beside `"true"` and `"7"`, where a page holds them against texts.
    let met = |twin: &Json| place.pool.literals.iter().any(|value| twin_of(value).as_ref() == Some(twin));
    for (tier, twin) in twins {
        all.add(if met(&twin) { tier } else { tier.max(Tier::More) }, [Value::Json(twin)]);
    }
    all.add(Tier::More, [json!(7), json!(true), json!("7"), json!(1.5)].map(Value::Json));
    all.add(Tier::Edge, [json!({"a": [1, null]}), json!([1]), json!(""), json!("ä \"quoted\"")].map(Value::Json));
}

fn document(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(b) => json!(b),
        Value::Int(n) => json!(n),
        Value::Real(r) => json!(r),
        Value::Json(json) => json.clone(),
        Value::Text(text) => json!(text),
        value => json!(value.to_string()),
    }
}

/// The same as another kind of value, where there is one.
fn twin(document: &Json) -> Option<Json> {
    match document {
        Json::Number(n) => Some(json!(n.to_string())),
        Json::Bool(b) => Some(json!(b.to_string())),
        Json::String(text) => {
            let other: Json = serde_json::from_str(text).ok()?;
            (other.is_number() || other.is_boolean()).then_some(other)
        }
        _ => None,
    }
}

fn twin_of(value: &Value) -> Option<Json> {
    twin(&document(value))
}

/// What a declared kind allows: what meets it first.
fn of_kind(place: Place<'_>, kind: &str) -> Vec<(Tier, Json)> {
    if let Some(item) = kind.strip_suffix("[]") {
        let items: Vec<Json> = of_kind(place, item).into_iter().map(|(_, item)| item).take(2).collect();
        let turned: Vec<Json> = items.iter().rev().cloned().collect();
        let others = [json!([items[items.len() - 1]]), json!([items[0], items[0]])];
        let core = [json!([items[0]]), json!([]), json!(items), json!(turned)].map(|list| (Tier::Core, list));
        return core.into_iter().chain(others.map(|list| (Tier::More, list))).collect();
    }
    if let Some(number) = kind.strip_suffix(" or text") {
        let numbers = of_kind(place, number);
        let texts = numbers.iter().map(|(tier, number)| (*tier, json!(number.to_string())));
        return numbers.iter().cloned().chain(texts).collect();
    }
    let of_base = |base: Base| -> Vec<(Tier, Json)> {
        let all = choices(Place { base: &base, nullable: false, ..place }).into_iter();
        all.filter_map(|choice| Some((choice.tier, document(&choice.value?)))).collect()
    };
    match kind {
        "object" => vec![(Tier::Core, json!({}))],
        "i64" | "number" => of_base(Base::Int64),
        "f64" => of_base(Base::Float64),
        "bool" => vec![(Tier::Core, json!(true)), (Tier::Core, json!(false))],
        "digits" => of_base(Base::Int64).into_iter().map(|(tier, number)| (tier, json!(number.to_string()))).collect(),
        _ => of_base(Base::Text),
    }
}
