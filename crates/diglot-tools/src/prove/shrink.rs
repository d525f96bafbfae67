//! Makes a case smaller, step by step, while it still shows its difference.

use super::cases::Case;
use super::pool;
use super::subject::Subject;
use super::uses::Key;
use diglot::infer::Param;
use diglot::types::Base;
use diglot::value::Value;

impl Subject {
    /// The cases that are one step simpler, the largest steps first.
    pub fn simpler(&self, case: &Case) -> Vec<Case> {
        let mut cases = Vec::new();
        for table in case.rows.keys() {
            let mut next = case.clone();
            next.rows.remove(table);
            cases.push(next);
        }
        for (table, rows) in case.rows.iter().filter(|(_, rows)| rows.len() > 1) {
            for at in 0..rows.len() {
                let mut next = case.clone();
                next.rows.entry(table.clone()).or_default().remove(at);
                cases.push(next);
            }
        }
        let is_fixed = |param: &&Param| {
            param.is_choice() || self.fresh.contains(&param.name) || self.again.contains_key(&param.name)
        };
        for param in self.params.iter().filter(|param| !is_fixed(param)) {
            let Some(value) = case.args.get(&param.name) else { continue };
            for simple in self.simple_values(&Key::Param(param.name.clone()), &param.ty.base, param.ty.nullable) {
                if is_simpler(&simple, value) {
                    let mut next = case.clone();
                    next.args.insert(param.name.clone(), simple);
                    self.bind_again(&mut next);
                    cases.push(next);
                }
            }
        }
        if let Some(rows) = &self.rows
            && let Some(Value::List(list)) = case.args.get(&rows.name)
        {
            for at in 0..list.len() {
                let mut fewer = list.clone();
                fewer.remove(at);
                let mut next = case.clone();
                next.args.insert(rows.name.clone(), Value::List(fewer));
                cases.push(next);
            }
        }
        for table in &self.tables {
            for (at, row) in case.rows.get(&table.name).into_iter().flatten().enumerate() {
                for column in table.columns.iter().filter(|column| !column.numbered) {
                    let Some(value) = row.get(&column.name) else { continue };
                    let key = Key::Column(table.name.clone(), column.name.clone());
                    let simple = self.simple_values(&key, &column.base, column.nullable);
                    for simple in simple.into_iter().filter(|simple| is_simpler(simple, value)) {
                        let mut next = case.clone();
                        if let Some(row) = next.rows.get_mut(&table.name).and_then(|rows| rows.get_mut(at)) {
                            row.insert(column.name.clone(), simple);
                        }
                        cases.push(next);
                    }
                }
            }
        }
        cases
    }

    /// The simplest values of a place, simplest first.
    fn simple_values(&self, key: &Key, base: &Base, nullable: bool) -> Vec<Value> {
        let plain = |at: usize| match self.is_id_in_text(key, base) {
            true => pool::as_text_of_uuid(&pool::plain(&Base::Uuid, at)),
            false => pool::plain(base, at),
        };
        let of_fields = self.fields.iter().filter(|((of, _), _)| of == key);
        let declared: Vec<(&Vec<String>, &String)> = of_fields.map(|((_, path), kind)| (path, kind)).collect();
        // What is declared of a document is so in a smaller one, too.
        let values = if declared.iter().any(|(path, _)| path.is_empty()) {
            vec![Value::Json(serde_json::Value::Array(Vec::new()))]
        } else if declared.iter().any(|(_, kind)| kind.ends_with(pool::ALWAYS)) {
            Vec::new()
        } else {
            vec![plain(0), plain(1)]
        };
        nullable.then_some(Value::Null).into_iter().chain(values).collect()
    }
}

/// Whether a value is simpler than another one: NULL, then plain values in their order, then the rest by length.
fn is_simpler(simple: &Value, value: &Value) -> bool {
    let weight = |value: &Value| match value {
        Value::Null => (0, 0),
        Value::Int(n @ 0..=1) => (1, n.unsigned_abs()),
        Value::Bool(truth) => (1, u64::from(!truth)),
        value => {
            let text = value.to_string();
            let plain =
                text.len() as u64 * 256 + u64::from(text.bytes().find(u8::is_ascii_alphanumeric).unwrap_or(255));
            (2, plain)
        }
    };
    weight(simple) < weight(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_never_leads_back() {
        let values = [
            Value::Null,
            Value::Int(0),
            Value::Int(1),
            Value::Int(i64::MIN),
            Value::Text("a".into()),
            Value::Text("b".into()),
            Value::Text("ä b".into()),
            Value::Bool(true),
            Value::Bool(false),
        ];
        for a in &values {
            for b in &values {
                assert!(!(is_simpler(a, b) && is_simpler(b, a)), "{a} and {b}");
            }
        }
        assert!(
            is_simpler(&Value::Null, &Value::Int(0)) && is_simpler(&Value::Text("a".into()), &Value::Text("b".into()))
        );
    }
}
