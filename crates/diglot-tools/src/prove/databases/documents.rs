//! The documents of a scene: what stands in one as a whole, and in its places.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::scene::{Scene, core};
use crate::prove::domain::{self, Choice, Tier};
use crate::prove::pool::{self, ALWAYS};
use crate::prove::uses::{Key, NAME};
use diglot::types::Base;
use diglot::value::Value;

impl Scene<'_> {
    /// What a document is as a whole: put together of its members, or what a page has in full, or no object at all.
    pub(super) fn documents(&self, key: &Key, nullable: bool) -> Vec<Choice> {
        let subject = self.subject;
        let mut choices = if subject.named.contains(key) { self.of_any_name(key) } else { self.whole_lists(key) };
        if choices.is_empty() {
            choices.push(Choice { value: None, tier: Tier::Core });
        }
        let has_always = subject.fields.iter().any(|((of, _), kind)| of == key && kind.ends_with(ALWAYS));
        let literals = subject.pool(key).literals.iter().filter_map(|value| value.clone().into_base(&Base::Json));
        if !has_always {
            for value in literals {
                if let Value::Json(json) = &value {
                    choices.push(Choice { value: Some(Value::Json(pool::with_points(json))), tier: Tier::Edge });
                }
                choices.insert(0, core(value));
            }
        }
        let is_list = subject.fields.get(&(key.clone(), Vec::new())).is_some_and(|kind| kind.ends_with("[]"));
        if subject.related.contains(key) && !has_always && !is_list {
            choices.extend(self.beside_others(key));
        }
        if nullable {
            choices.push(core(Value::Null));
        }
        let is_declared = subject.objects.contains(key) || subject.fields.keys().any(|(of, _)| of == key);
        if !is_declared {
            let odd = [json!([]), json!(7), json!("a"), json!(true), Json::Null, json!({"a": [1, null]})];
            choices.extend(odd.into_iter().map(|json| Choice { value: Some(Value::Json(json)), tier: Tier::Edge }));
        }
        let mut once: Vec<Choice> = Vec::new();
        choices.into_iter().for_each(|choice| {
            if !once.iter().any(|known| known.value == choice.value) {
                once.push(choice);
            }
        });
        once
    }

    /// Objects whose members are read one after the other: of one and of two names, with the values that meet them.
    fn of_any_name(&self, key: &Key) -> Vec<Choice> {
        let subject = self.subject;
        let below = |step: &str| Key::Json(Box::new(key.clone()), vec![step.to_owned()]);
        let met = Some(below(NAME)).filter(|names| subject.pool_of.contains_key(names));
        let met = met.map(|names| domain::choices(self.place(&names, &Base::Text, false))).unwrap_or_default();
        let met = met.into_iter().filter(|choice| choice.tier == Tier::Core).filter_map(|choice| match choice.value {
            Some(Value::Text(name)) => Some(name),
            _ => None,
        });
        let mut names: Vec<String> = Vec::new();
        for name in met.chain(["a", "b"].map(str::to_owned)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.truncate(2);
        let items = self.items(key).unwrap_or_else(|| key.clone());
        // What is declared of every member is declared of this one.
        let kind = subject.fields.get(&(key.clone(), vec!["a".to_owned()])).map(String::as_str);
        domain::of_any_name(&names, &domain::leaves(self.place(&items, &Base::Text, false), kind, false))
    }

    /// What is in a list, where something is known of it.
    fn items(&self, list: &Key) -> Option<Key> {
        let all = || vec!["*".to_owned()];
        let items = match list {
            Key::Json(document, path) => Key::Json(document.clone(), [path.clone(), all()].concat()),
            key => Key::Json(Box::new(key.clone()), all()),
        };
        self.subject.pool_of.contains_key(&items).then_some(items)
    }

    /// The lists that a document may be which is one as a whole.
    fn whole_lists(&self, key: &Key) -> Vec<Choice> {
        let subject = self.subject;
        let kind = subject.fields.get(&(key.clone(), Vec::new())).filter(|kind| kind.ends_with("[]"));
        let mut paths = subject.paths.get(key).into_iter().flatten();
        // Whoever steps further into the items finds them put together of their members.
        let is_list = kind.is_some() || paths.clone().any(|path| path.first().is_some_and(|step| step == "*"));
        let is_put_together =
            subject.objects.contains(key) || paths.any(|path| path.len() > 1 || path.iter().any(|it| it != "*"));
        if !is_list || is_put_together && kind.is_none() {
            return Vec::new();
        }
        let place = self.items(key).unwrap_or_else(|| key.clone());
        domain::whole_lists(self.place(&place, &Base::Text, false), kind.map(|kind| kind.trim_end_matches("[]")))
    }

    /// Documents that have members in common with those that they meet.
    fn beside_others(&self, key: &Key) -> Vec<Choice> {
        let subject = self.subject;
        let paths = || subject.related.iter().filter_map(|key| subject.paths.get(key)).flatten();
        let declared = subject.fields.keys().filter(|(of, _)| subject.related.contains(of)).map(|(_, path)| path);
        let names: BTreeSet<&String> = paths().chain(declared).filter_map(|path| path.first()).collect();
        let mut choices = Vec::new();
        for name in names.iter().filter(|name| **name != "*") {
            let path = vec![(*name).clone()];
            let place = Key::Json(Box::new(key.clone()), path.clone());
            let kind = subject.fields.get(&(key.clone(), path)).map(String::as_str);
            let leaves = domain::leaves(self.place(&place, &Base::Text, false), kind, false);
            choices.extend(domain::beside_others(name, &leaves, kind.is_none()));
        }
        if choices.is_empty() {
            let name = "a";
            let kind = subject.fields.get(&(key.clone(), vec![name.to_owned()])).map(String::as_str);
            let leaves = match kind {
                Some(_) => domain::leaves(self.place(key, &Base::Text, false), kind, false),
                None => vec![core(Value::Json(json!(1)))],
            };
            choices = domain::beside_others(name, &leaves, kind.is_none());
        }
        choices
    }

    /// The places of a document that a page reads or writes, or that no document lacks.
    pub(super) fn members(&self, key: &Key) -> Vec<(Vec<String>, Vec<Choice>)> {
        let subject = self.subject;
        if !self.whole_lists(key).is_empty() {
            return Vec::new();
        }
        let declared = |path: &[String]| subject.fields.get(&(key.clone(), path.to_vec())).map(String::as_str);
        let paths: BTreeSet<Vec<String>> = subject.paths.get(key).into_iter().flatten().cloned().collect();
        let mut members = Vec::new();
        for path in paths.iter().filter(|path| !path.is_empty()) {
            let place = Key::Json(Box::new(key.clone()), path.clone());
            let is_always = declared(path).is_some_and(|kind| kind.ends_with(ALWAYS));
            let is_parent = paths.iter().any(|other| other.len() > path.len() && other.starts_with(path));
            // What stands in a list is told by what the list is declared to be.
            let is_item = (1..path.len()).any(|end| declared(&path[..end]).is_some_and(|kind| kind.ends_with("[]")));
            if is_item || !(is_always || is_parent || subject.reading.paths.contains(&place)) {
                continue;
            }
            let place =
                self.items(&place).filter(|_| declared(path).is_some_and(|it| it.ends_with("[]"))).unwrap_or(place);
            let choices = domain::leaves(self.place(&place, &Base::Text, false), declared(path), is_parent);
            members.push((path.clone(), choices));
        }
        // Longer paths last, so that what they need is there.
        members.sort_by_key(|(path, _)| path.len());
        members
    }
}
