//! One change of what a statement means.

use super::choices::Choices;
use super::schema::Kind;
use super::tree::{Aggregate, Combination, Comparison, Condition, Expr, Joining, Key, Replacement, Statement, Window};

/// Walks a statement and changes the place of a number.
struct Changer {
    left: usize,
    is_done: bool,
    how: usize,
}

/// Changes one place of a statement; false where there is none to change.
pub(super) fn change(statement: &mut Statement, choices: &mut Choices<'_>) -> bool {
    let how = choices.below(4);
    let mut counter = Changer { left: usize::MAX, is_done: false, how };
    counter.statement(&mut statement.clone());
    let places = usize::MAX - counter.left;
    let mut changer = Changer { left: choices.below(places), is_done: false, how };
    changer.statement(statement);
    changer.is_done
}

impl Changer {
    /// Whether this place is the one.
    fn here(&mut self) -> bool {
        if self.is_done {
            return false;
        }
        if self.left == 0 {
            self.is_done = true;
            return true;
        }
        self.left -= 1;
        false
    }

    fn statement(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Read { joining, filter, values, is_distinct, order, limit, offset } => {
                if *joining != Joining::Nothing && self.here() {
                    *joining = if *joining == Joining::Inner { Joining::Left } else { Joining::Inner };
                }
                self.filter(filter);
                values.iter_mut().for_each(|value| self.value(value));
                if *is_distinct && self.here() {
                    *is_distinct = false;
                }
                order.iter_mut().for_each(|key| self.key(key));
                for bound in [&mut *limit, &mut *offset].into_iter().flatten() {
                    if let Expr::Number(number) = bound
                        && self.here()
                    {
                        *number += 1;
                    }
                }
                if offset.is_some() && self.here() {
                    *offset = None;
                }
            }
            Statement::Combined { combination, values: _, filters } => {
                if self.here() {
                    *combination = match combination {
                        Combination::Union => Combination::All,
                        Combination::All => Combination::Union,
                        Combination::Common => Combination::Without,
                        Combination::Without => Combination::Common,
                    };
                }
                filters.iter_mut().for_each(|filter| self.filter(filter));
            }
            Statement::Framed { inner, values, outer } => {
                self.filter(inner);
                values.iter_mut().for_each(|value| self.value(value));
                self.filter(outer);
            }
            Statement::Windowed { filter, function, partition, order } => {
                self.filter(filter);
                if self.here() {
                    *function = match function.clone() {
                        Window::Number | Window::Rows => Window::Rank,
                        Window::Rank | Window::Before(_) | Window::Sum(_) => Window::Number,
                    };
                }
                if partition.is_some() && self.here() {
                    *partition = None;
                }
                order.iter_mut().for_each(|key| self.key(key));
            }
            Statement::First { filter, order } => {
                self.filter(filter);
                order.iter_mut().for_each(|key| self.key(key));
            }
            Statement::Claim { filter, order, limit, to, passes_over: _ } => {
                self.filter(filter);
                order.iter_mut().for_each(|key| self.key(key));
                if self.here() {
                    *limit += 1;
                }
                to.iter_mut().for_each(|(_, value)| self.value(value));
            }
            Statement::Count { filter, groups, values, having } => {
                self.filter(filter);
                groups.iter_mut().for_each(|value| self.value(value));
                values.iter_mut().for_each(|value| self.aggregate(value));
                if let Some(having) = having
                    && self.here()
                {
                    *having += 1;
                }
            }
            Statement::Change { filter, to, returns } => {
                self.filter(filter);
                to.iter_mut().for_each(|(_, value)| self.value(value));
                if to.len() > 1 && self.here() {
                    to.pop();
                }
                returns.iter_mut().for_each(|value| self.value(value));
            }
            Statement::Remove { filter, returns } => {
                self.filter(filter);
                returns.iter_mut().for_each(|value| self.value(value));
            }
            Statement::Add { values, conflict, only_if } => {
                if values.len() > 2 && self.here() {
                    let at = values.len() - 1;
                    let other = values[at - 1].1.clone();
                    values[at].1 = Expr::Or(Box::new(values[at].1.clone()), Box::new(other));
                }
                if !conflict.is_empty() && self.here() {
                    conflict.pop();
                }
                if let Some(condition) = only_if {
                    self.condition(condition);
                }
                if only_if.is_some() && self.here() {
                    *only_if = None;
                }
                for (_, becomes) in conflict {
                    match becomes {
                        Replacement::Value(value) if self.here() => *value = another(value, self.how),
                        _ => {}
                    }
                }
            }
        }
    }

    fn filter(&mut self, filter: &mut Vec<Condition>) {
        for condition in filter.iter_mut() {
            self.condition(condition);
        }
        if !filter.is_empty() && self.here() {
            filter.pop();
        }
    }

    fn key(&mut self, key: &mut Key) {
        if self.here() {
            key.is_falling = !key.is_falling;
        }
        if let Some(first) = &mut key.nulls_first
            && self.here()
        {
            *first = !*first;
        }
    }

    fn aggregate(&mut self, aggregate: &mut Aggregate) {
        if self.here() {
            *aggregate = match aggregate.clone() {
                Aggregate::Rows => {
                    Aggregate::RowsWhere(Condition::Compare(Comparison::Equal, Expr::Number(1), Expr::Number(2)))
                }
                Aggregate::RowsWhere(condition) => Aggregate::RowsWhere(Condition::Not(Box::new(condition))),
                Aggregate::Values(_) => Aggregate::Rows,
                Aggregate::Unlike(value) => Aggregate::Values(value),
                Aggregate::Least(value) => Aggregate::Greatest(value),
                Aggregate::Greatest(value) => Aggregate::Least(value),
                Aggregate::Sum(value) => Aggregate::Greatest(value),
            };
            return;
        }
        match aggregate {
            Aggregate::RowsWhere(condition) => self.condition(condition),
            Aggregate::Values(value) => self.value(value),
            _ => {}
        }
    }

    fn value(&mut self, value: &mut Expr) {
        let is_leaf = matches!(value, Expr::Column(..) | Expr::Parameter(_) | Expr::Proposed(..));
        if !is_leaf && self.here() {
            *value = another(value, self.how);
            return;
        }
        match value {
            Expr::Or(first, second) | Expr::Unless(first, second) | Expr::Joined(first, second) => {
                self.value(first);
                self.value(second);
            }
            Expr::Choose(condition, yes, no) => {
                self.condition(condition);
                self.value(yes);
                self.value(no);
            }
            Expr::Plus(inner, _)
            | Expr::Times(inner, _)
            | Expr::Negated(inner)
            | Expr::Length(inner)
            | Expr::Part(inner, ..)
            | Expr::Wide(inner)
            | Expr::With(_, _, inner)
            | Expr::Replaced(inner, ..) => self.value(inner),
            Expr::Whether(condition) => self.condition(condition),
            Expr::Column(..)
            | Expr::Number(_)
            | Expr::Real(_)
            | Expr::Text(_)
            | Expr::Truth(_)
            | Expr::Field(..)
            | Expr::Items(_)
            | Expr::Ago(_)
            | Expr::Proposed(..)
            | Expr::Parameter(_) => {}
        }
    }

    fn condition(&mut self, condition: &mut Condition) {
        if self.here() {
            *condition = otherwise(condition.clone(), self.how);
            return;
        }
        match condition {
            Condition::Compare(_, left, right) | Condition::Same(left, right) => {
                self.value(left);
                self.value(right);
            }
            Condition::IsNull(value) | Condition::Is(value) | Condition::Listed(value, _) => self.value(value),
            Condition::HasItem(_, item) => {
                if self.here() {
                    *item = if *item == "a" { "b" } else { "a" };
                }
            }
            Condition::Among(value, items) => {
                self.value(value);
                if items.len() > 1 && self.here() {
                    items.pop();
                }
                items.iter_mut().for_each(|item| self.value(item));
            }
            Condition::Between(value, low, high) => {
                self.value(value);
                self.value(low);
                self.value(high);
            }
            Condition::All(conditions) | Condition::Any(conditions) => {
                conditions.iter_mut().for_each(|condition| self.condition(condition));
            }
            Condition::Not(inner) | Condition::HasPart(inner) => self.condition(inner),
        }
    }
}

/// Another value of the same kind.
fn another(value: &Expr, how: usize) -> Expr {
    match value.clone() {
        Expr::Number(number) => Expr::Number(number + 1),
        Expr::Real(real) => Expr::Real(real + 0.5),
        Expr::Text(text) => Expr::Text(if text == "a" { "b" } else { "a" }),
        Expr::Truth(truth) => Expr::Truth(!truth),
        Expr::Or(first, second) if how == 0 => Expr::Or(second, first),
        Expr::Or(first, _) | Expr::Unless(first, _) => *first,
        Expr::Choose(condition, yes, no) => Expr::Choose(condition, no, yes),
        Expr::Plus(inner, more) => Expr::Plus(inner, more + 1),
        Expr::Times(inner, times) => Expr::Times(inner, times + 1),
        Expr::Negated(inner) | Expr::Replaced(inner, ..) => *inner,
        Expr::Joined(first, second) => Expr::Joined(second, first),
        Expr::Length(inner) => Expr::Plus(Box::new(Expr::Length(inner)), 1),
        Expr::Part(inner, start, length) if how == 0 => Expr::Part(inner, start + 1, length),
        Expr::Part(inner, start, length) => Expr::Part(inner, start, length + 1),
        Expr::Whether(condition) => Expr::Whether(Box::new(Condition::Not(condition))),
        Expr::Field(name, _, Kind::Number) => Expr::Items(name),
        Expr::Field(name, field, kind) => Expr::Unless(
            Box::new(Expr::Field(name, field, kind)),
            Box::new(if kind == Kind::Flag { Expr::Truth(true) } else { Expr::Text("a") }),
        ),
        Expr::Items(name) => Expr::Plus(Box::new(Expr::Items(name)), 1),
        Expr::With(name, field, value) => Expr::With(name, field, Box::new(another(&value, how))),
        Expr::Ago(hours) => Expr::Ago(hours + 1),
        Expr::Wide(inner) => Expr::Plus(Box::new(Expr::Wide(inner)), 1),
        Expr::Proposed(name, kind) => Expr::Proposed(name, kind),
        Expr::Column(name, kind) => Expr::Column(name, kind),
        Expr::Parameter(name) => Expr::Parameter(name),
    }
}

/// Another condition on the same values.
fn otherwise(condition: Condition, how: usize) -> Condition {
    match condition {
        Condition::Compare(Comparison::Equal, left, right) => match how {
            0 => Condition::Same(left, right),
            _ => Condition::Compare(Comparison::Unequal, left, right),
        },
        Condition::Compare(Comparison::Unequal, left, right) => match how {
            0 => Condition::Not(Box::new(Condition::Same(left, right))),
            _ => Condition::Compare(Comparison::Equal, left, right),
        },
        Condition::Compare(Comparison::Less, left, right) => match how {
            0 => Condition::Compare(Comparison::Less, right, left),
            _ => Condition::Compare(Comparison::AtMost, left, right),
        },
        Condition::Compare(Comparison::AtMost, left, right) => Condition::Compare(Comparison::Less, left, right),
        Condition::Same(left, right) => Condition::Compare(Comparison::Equal, left, right),
        Condition::All(conditions) => Condition::Any(conditions),
        Condition::Any(conditions) => Condition::All(conditions),
        Condition::Not(inner) => *inner,
        Condition::Between(value, low, _) => Condition::Between(value, low, Expr::Number(2)),
        other => Condition::Not(Box::new(other)),
    }
}
