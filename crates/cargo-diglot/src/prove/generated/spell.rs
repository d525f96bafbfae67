//! Spells a statement in a dialect, in one of the ways in which people write it.

use diglot::dialect::Dialect;

use super::choices::Choices;
use super::schema::{Kind, Schema};
use super::tree::{Aggregate, Comparison, Condition, Expr, Joining, Key, Name, Replacement, Statement};

/// One page's way to write. What is chosen changes no meaning.
pub(super) struct Speller<'s, 'n> {
    pub(super) schema: &'s Schema,
    pub(super) dialect: Dialect,
    pub(super) choices: &'s mut Choices<'n>,
}

impl<'s, 'n> Speller<'s, 'n> {
    pub(super) fn new(schema: &'s Schema, dialect: Dialect, choices: &'s mut Choices<'n>) -> Self {
        Self { schema, dialect, choices }
    }

    pub(super) fn is_pg(&self) -> bool {
        self.dialect == Dialect::Pg
    }

    /// Either way of several; the first is the plainest.
    pub(super) fn way(&mut self, count: usize) -> usize {
        self.choices.below(count)
    }

    pub(super) fn statement(&mut self, statement: &Statement) -> String {
        match statement {
            Statement::Read { joining, filter, values, is_distinct, order, limit, offset } => {
                let values = self.named(values);
                let (from, filter) = self.sources(*joining, filter);
                let distinct = if *is_distinct { "DISTINCT " } else { "" };
                let order = self.order(order);
                let limit = self.bounds(limit.as_ref(), offset.as_ref());
                format!("SELECT {distinct}{values} FROM {from}{filter}{order}{limit}")
            }
            Statement::Count { filter, groups, values, having } => self.count(filter, groups, values, *having),
            Statement::Change { filter, to, returns } => {
                let to: Vec<String> =
                    to.iter().map(|(name, value)| format!("{name} = {}", self.value(value))).collect();
                let filter = self.filter(filter);
                format!("UPDATE item AS i SET {}{filter} RETURNING {}", to.join(", "), self.returned(returns))
            }
            Statement::Remove { filter, returns } => {
                let filter = self.filter(filter);
                format!("DELETE FROM item AS i{filter} RETURNING {}", self.returned(returns))
            }
            Statement::Add { values, conflict, only_if } => {
                let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
                let given: Vec<String> = values.iter().map(|(_, value)| self.value(value)).collect();
                let action = if conflict.is_empty() {
                    "NOTHING".to_owned()
                } else {
                    let set = conflict.iter().map(|(name, becomes)| match becomes {
                        Replacement::Proposed => format!("{name} = excluded.{name}"),
                        Replacement::Value(value) => format!("{name} = {}", self.value(value)),
                    });
                    format!("UPDATE SET {}", set.collect::<Vec<_>>().join(", "))
                };
                let only_if = match only_if {
                    Some(condition) => format!(" WHERE {}", self.condition(condition)),
                    None => String::new(),
                };
                format!(
                    "INSERT INTO item ({}) VALUES ({}) ON CONFLICT (id) DO {action}{only_if}",
                    names.join(", "),
                    given.join(", ")
                )
            }
            _ => self.shape(statement),
        }
    }

    fn count(&mut self, filter: &[Condition], groups: &[Expr], values: &[Aggregate], having: Option<i64>) -> String {
        let mut columns: Vec<String> =
            groups.iter().enumerate().map(|(at, group)| format!("{} AS g{at}", self.value(group))).collect();
        for (at, value) in values.iter().enumerate() {
            columns.push(format!("{} AS v{at}", self.aggregate(value)));
        }
        let filter = self.filter(filter);
        let groups: Vec<String> = groups.iter().map(|group| self.value(group)).collect();
        let group = if groups.is_empty() { String::new() } else { format!(" GROUP BY {}", groups.join(", ")) };
        let having = having.map(|more| format!(" HAVING count(*) > {more}")).unwrap_or_default();
        format!("SELECT {} FROM item AS i{filter}{group}{having}", columns.join(", "))
    }

    fn aggregate(&mut self, value: &Aggregate) -> String {
        match value {
            Aggregate::Rows => self.choices.one(&["count(*)", "count(*)", "count(1)"]).to_owned(),
            Aggregate::RowsWhere(condition) => {
                let condition = self.condition(condition);
                match self.way(2) {
                    0 => format!("count(*) FILTER (WHERE {condition})"),
                    _ => format!("count(CASE WHEN {condition} THEN 1 END)"),
                }
            }
            Aggregate::Values(value) => format!("count({})", self.value(value)),
            Aggregate::Unlike(value) => format!("count(DISTINCT {})", self.value(value)),
            Aggregate::Least(value) => format!("min({})", self.value(value)),
            Aggregate::Greatest(value) => format!("max({})", self.value(value)),
            Aggregate::Sum(value) => {
                let sum = format!("sum({})", self.value(value));
                if self.is_pg() { format!("CAST({sum} AS bigint)") } else { sum }
            }
        }
    }

    fn sources(&mut self, joining: Joining, filter: &[Condition]) -> (String, String) {
        match joining {
            Joining::Nothing => ("item AS i".to_owned(), self.filter(filter)),
            Joining::Left => {
                let filter = self.filter(filter);
                ("item AS i LEFT JOIN part AS p ON p.item_id = i.id".to_owned(), filter)
            }
            Joining::Inner => match self.way(3) {
                0 => ("item AS i JOIN part AS p ON p.item_id = i.id".to_owned(), self.filter(filter)),
                1 => ("part AS p JOIN item AS i ON i.id = p.item_id".to_owned(), self.filter(filter)),
                _ => {
                    let filter = self.filter(filter);
                    let more = filter.replacen(" WHERE ", " AND ", 1);
                    ("item AS i, part AS p".to_owned(), format!(" WHERE p.item_id = i.id{more}"))
                }
            },
        }
    }

    pub(super) fn filter(&mut self, filter: &[Condition]) -> String {
        let mut conditions: Vec<String> = filter.iter().map(|condition| self.condition(condition)).collect();
        if self.way(2) == 1 {
            conditions.reverse();
        }
        if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) }
    }

    /// What a write shows. SQLite knows the target by the table's name there.
    fn returned(&mut self, values: &[Expr]) -> String {
        let named = self.named(values);
        if self.is_pg() { named } else { named.replace("i.", "item.") }
    }

    pub(super) fn named(&mut self, values: &[Expr]) -> String {
        let named = values.iter().enumerate().map(|(at, value)| format!("{} AS v{at}", self.value(value)));
        named.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn order(&mut self, order: &[Key]) -> String {
        let keys = order.iter().map(|key| {
            let way = if key.is_falling { " DESC" } else { "" };
            let nulls = match key.nulls_first {
                // Each engine has its own way where nothing is said.
                Some(first) if first == (key.is_falling == self.is_pg()) && self.way(2) == 1 => "",
                Some(true) => " NULLS FIRST",
                Some(false) => " NULLS LAST",
                None => "",
            };
            format!("{}{way}{nulls}", self.value(&key.by))
        });
        let keys: Vec<String> = keys.collect();
        if keys.is_empty() { String::new() } else { format!(" ORDER BY {}", keys.join(", ")) }
    }

    pub(super) fn value(&mut self, value: &Expr) -> String {
        match value {
            Expr::Column(Name { alias, column }, _) => format!("{alias}.{column}"),
            Expr::Wide(value) if self.is_pg() && matches!(**value, Expr::Field(..)) => self.value(value),
            Expr::Wide(value) => {
                let value = self.value(value);
                let wide = if self.is_pg() { "bigint" } else { "INTEGER" };
                format!("CAST({value} AS {wide})")
            }
            Expr::Field(document, field, kind) => self.field(document, field, *kind),
            Expr::Items(document) => self.items(document),
            Expr::With(document, field, value) => self.with_field(document, field, value),
            Expr::Ago(hours) => self.ago(*hours),
            Expr::Proposed(column, _) => format!("excluded.{column}"),
            Expr::Number(number) if *number < 0 => format!("({number})"),
            Expr::Number(number) => number.to_string(),
            Expr::Real(real) => format!("({real:?})"),
            Expr::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Expr::Truth(truth) if self.is_pg() => truth.to_string(),
            Expr::Truth(truth) => match self.way(2) {
                0 => u8::from(*truth).to_string(),
                _ => truth.to_string(),
            },
            Expr::Parameter(name) => format!(":{name}"),
            Expr::Or(first, second) => {
                // A number would make the value one.
                let second = match &**second {
                    Expr::Truth(truth) => truth.to_string(),
                    second => self.value(second),
                };
                let first = self.value(first);
                match self.way(3) {
                    1 => format!("CASE WHEN {first} IS NULL THEN {second} ELSE {first} END"),
                    2 if !self.is_pg() => format!("ifnull({first}, {second})"),
                    _ => format!("COALESCE({first}, {second})"),
                }
            }
            Expr::Unless(value, other) => {
                let (value, other) = (self.value(value), self.value(other));
                match self.way(2) {
                    0 => format!("NULLIF({value}, {other})"),
                    _ => format!("CASE WHEN {value} = {other} THEN NULL ELSE {value} END"),
                }
            }
            Expr::Choose(condition, yes, no) => {
                let (condition, yes, no) = (self.condition(condition), self.value(yes), self.value(no));
                match self.way(2) {
                    1 if !self.is_pg() => format!("iif({condition}, {yes}, {no})"),
                    _ => format!("CASE WHEN {condition} THEN {yes} ELSE {no} END"),
                }
            }
            Expr::Plus(value, more) => {
                let value = self.value(value);
                match self.way(2) {
                    0 => format!("({value} + {more})"),
                    _ => format!("({more} + {value})"),
                }
            }
            Expr::Times(value, times) => {
                let value = self.value(value);
                match self.way(2) {
                    0 => format!("({value} * {times})"),
                    _ => format!("({times} * {value})"),
                }
            }
            Expr::Negated(value) => format!("(- {})", self.value(value)),
            Expr::Joined(first, second) => format!("({} || {})", self.value(first), self.value(second)),
            Expr::Length(value) => {
                let value = self.value(value);
                match self.way(2) {
                    1 if self.is_pg() => format!("char_length({value})"),
                    _ => format!("length({value})"),
                }
            }
            Expr::Part(value, start, length) => {
                let value = self.value(value);
                match self.way(3) {
                    1 => format!("substring({value}, {start}, {length})"),
                    2 if self.is_pg() => format!("substring({value} from {start} for {length})"),
                    _ => format!("substr({value}, {start}, {length})"),
                }
            }
            Expr::Replaced(value, from, to) => {
                format!("replace({}, '{from}', '{}')", self.value(value), to.replace('\'', "''"))
            }
            Expr::Whether(condition) => format!("({})", self.condition(condition)),
        }
    }

    pub(super) fn condition(&mut self, condition: &Condition) -> String {
        match condition {
            Condition::Compare(comparison, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.comparison(*comparison, &left, &right)
            }
            Condition::IsNull(value) => {
                let value = self.value(value);
                match self.way(2) {
                    0 => format!("{value} IS NULL"),
                    _ => format!("{value} ISNULL"),
                }
            }
            Condition::Same(left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                match self.way(2) {
                    1 if !self.is_pg() => format!("{left} IS {right}"),
                    _ => format!("{left} IS NOT DISTINCT FROM {right}"),
                }
            }
            Condition::Is(Expr::Field(document, field, Kind::Flag)) => self.flag(document, field),
            Condition::Is(flag) => {
                let flag = self.value(flag);
                match (self.is_pg(), self.way(3)) {
                    (false, 1) => format!("{flag} = 1"),
                    (true, 1) => format!("{flag} = true"),
                    _ => flag,
                }
            }
            Condition::Among(value, items) => {
                let value = self.value(value);
                let mut items: Vec<String> = items.iter().map(|item| self.value(item)).collect();
                if self.way(2) == 1 {
                    items.reverse();
                }
                match self.way(3) {
                    1 => {
                        let each: Vec<String> = items.iter().map(|item| format!("{value} = {item}")).collect();
                        format!("({})", each.join(" OR "))
                    }
                    2 if self.is_pg() => format!("{value} = ANY (ARRAY[{}])", items.join(", ")),
                    _ => format!("{value} IN ({})", items.join(", ")),
                }
            }
            Condition::Between(value, low, high) => {
                let (value, low, high) = (self.value(value), self.value(low), self.value(high));
                match self.way(2) {
                    0 => format!("({value} BETWEEN {low} AND {high})"),
                    _ => format!("({value} >= {low} AND {value} <= {high})"),
                }
            }
            Condition::All(conditions) => self.several(conditions, "AND"),
            Condition::Any(conditions) => self.several(conditions, "OR"),
            Condition::Not(inner) => match (&**inner, self.way(2)) {
                (Condition::All(conditions), 1) => {
                    let all: Vec<String> = conditions.iter().map(|c| format!("NOT ({})", self.condition(c))).collect();
                    format!("({})", all.join(" OR "))
                }
                (Condition::IsNull(value), 1) => format!("{} IS NOT NULL", self.value(value)),
                (Condition::Same(left, right), 1) => {
                    format!("{} IS DISTINCT FROM {}", self.value(left), self.value(right))
                }
                _ => format!("NOT ({})", self.condition(inner)),
            },
            Condition::Listed(value, list) => self.listed(value, list),
            Condition::HasItem(document, item) => self.has_item(document, item),
            Condition::HasPart(more) => {
                // A list in a membership is told apart from one under EXISTS: `docs/gaps.md`.
                let ways = if matches!(**more, Condition::Listed(..)) { 2 } else { 3 };
                let more = self.condition(more);
                match self.way(ways) {
                    0 => format!("EXISTS (SELECT 1 FROM part AS q WHERE q.item_id = i.id AND {more})"),
                    1 => format!("EXISTS (SELECT * FROM part AS q WHERE {more} AND i.id = q.item_id)"),
                    _ => format!("i.id IN (SELECT q.item_id FROM part AS q WHERE q.item_id IS NOT NULL AND {more})"),
                }
            }
        }
    }

    fn several(&mut self, conditions: &[Condition], word: &str) -> String {
        let mut texts: Vec<String> = conditions.iter().map(|condition| self.condition(condition)).collect();
        if self.way(2) == 1 {
            texts.reverse();
        }
        format!("({})", texts.join(&format!(" {word} ")))
    }

    fn comparison(&mut self, comparison: Comparison, left: &str, right: &str) -> String {
        let is_turned = self.way(2) == 1;
        let sign = match (comparison, is_turned) {
            (Comparison::Equal, _) => "=",
            (Comparison::Unequal, _) => self.choices.one(&["<>", "!="]),
            (Comparison::Less, false) => "<",
            (Comparison::Less, true) => ">",
            (Comparison::AtMost, false) => "<=",
            (Comparison::AtMost, true) => ">=",
        };
        if is_turned { format!("{right} {sign} {left}") } else { format!("{left} {sign} {right}") }
    }
}
