//! Clocks of SQLite beside columns of times.
//!
//! `strftime('%s', 'now')` is a text and `unixepoch()` a number, until they stand beside a column that holds seconds, or
//! are written into one: there they are times in its form, and are compared with the facing page as such.

use super::Lower;
use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind, Rows, Source};
use crate::types::{Base, Form, Stored, Type};

impl Lower<'_> {
    /// Two values that are compared, or of which one is taken from the other.
    pub(super) fn hold_each_other(&self, left: &mut Expr, right: &mut Expr) {
        if self.dialect != Dialect::Sqlite {
            return;
        }
        if let Some(stored) = stored(left) {
            hold(right, stored);
        } else if let Some(stored) = stored(right) {
            hold(left, stored);
        }
    }

    /// A value that is written into a column.
    pub(super) fn hold_written(&self, value: &mut Expr, target: &Source, column: &str) {
        let of_column = target.columns.iter().find(|(name, _)| name == column).and_then(|(_, ty)| ty.as_ref());
        if let (Dialect::Sqlite, Some(stored)) = (self.dialect, of_column.and_then(|ty| ty.base.stored())) {
            hold(value, stored);
        }
    }

    /// The values of the rows of an INSERT.
    pub(super) fn hold_rows(&self, rows: &mut Rows, columns: &[(String, crate::source::Span)], target: &Source) {
        if self.dialect != Dialect::Sqlite {
            return;
        }
        match rows {
            Rows::Values(rows, _) => {
                for (value, (name, _)) in rows.iter_mut().flat_map(|row| row.iter_mut().zip(columns)) {
                    self.hold_written(value, target, name);
                }
            }
            Rows::Select(select) => {
                for (value, (name, _)) in select.columns.iter_mut().zip(columns) {
                    self.hold_written(&mut value.expr, target, name);
                }
            }
            Rows::Query(query) => self.hold_rows(&mut query.rows, columns, target),
            Rows::Set { left, right, .. } => {
                self.hold_rows(left, columns, target);
                self.hold_rows(right, columns, target);
            }
        }
    }
}

fn stored(expr: &Expr) -> Option<Stored> {
    expr.ty.as_ref().and_then(|ty| ty.base.stored())
}

/// Gives a clock, or what chooses among values, the type of the column beside it, if it is of that form.
fn hold(expr: &mut Expr, wanted: Stored) {
    let is_stored = stored(expr).is_some();
    let mut values = chosen(expr);
    // What chooses among values may have the type of one of them already.
    values.iter_mut().for_each(|value| hold(value, wanted));
    let all_are_held = !values.is_empty() && values.iter().all(|value| stored(value).is_some());
    if is_stored {
        return;
    }
    let is_held = match &mut expr.kind {
        _ if all_are_held => true,
        ExprKind::Call { name, args, .. } => {
            match written(name, args) {
                // Where the form is asked for already, any clock is of it.
                Some(form) if form == wanted.form || wanted.form == Form::Unsaid => true,
                // A time all the same: `time-format` tells of another text.
                Some(form) if form.holds(wanted.of) && [form, wanted.form].iter().all(|f| *f.seen() == Base::Text) => {
                    let nullable = expr.ty.as_ref().is_none_or(|ty| ty.nullable);
                    expr.ty = Some(Type { base: Base::Stored(Stored { form, ..wanted }), nullable });
                    return;
                }
                _ => false,
            }
        }
        ExprKind::Cast { expr: inner, base: Some(Base::Int64), .. } if *wanted.form.seen() == Base::Int64 => {
            hold(inner, wanted);
            stored(inner).is_some()
        }
        // A number of seconds more or less.
        ExprKind::Binary { op, left, right }
            if ["+", "-"].contains(&op.as_str()) && *wanted.form.seen() == Base::Int64 =>
        {
            hold(left, wanted);
            stored(left).is_some() && stored(right).is_none()
        }
        ExprKind::Binary { op, left, right } if op == "*" => in_units(left, right) == Some(wanted.form),
        _ => false,
    };
    if is_held {
        let nullable = expr.ty.as_ref().is_none_or(|ty| ty.nullable);
        expr.ty = Some(Type { base: Base::Stored(wanted), nullable });
    }
}

/// The values among which an expression chooses.
fn chosen(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Call { name, args, .. } => match name.as_str() {
            "coalesce" | "ifnull" | "max" | "min" | "nullif" => args.iter_mut().collect(),
            "iif" | "if" => args.iter_mut().skip(1).collect(),
            _ => Vec::new(),
        },
        ExprKind::Case { branches, otherwise, .. } => {
            branches.iter_mut().map(|(_, value)| value).chain(otherwise.as_deref_mut()).collect()
        }
        _ => Vec::new(),
    }
}

/// The form that a clock writes, and what a part of SQLite's clock is multiplied by.
pub fn written(name: &str, args: &[Expr]) -> Option<Form> {
    let text = |arg: &Expr| match &arg.kind {
        ExprKind::Text(text) => text.clone(),
        _ => String::new(),
    };
    let texts: Vec<String> = args.iter().map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Form::written_by(name, &texts).filter(|_| !texts.contains(&"localtime"))
}

/// Seconds times a thousand.
fn in_units(left: &Expr, right: &Expr) -> Option<Form> {
    let (clock, number) = match (&left.kind, &right.kind) {
        (ExprKind::Call { .. }, ExprKind::Number(number)) => (left, number),
        (ExprKind::Number(number), ExprKind::Call { .. }) => (right, number),
        _ => return None,
    };
    let ExprKind::Call { name, args, .. } = &clock.kind else { return None };
    if name != "unixepoch" && written(name, args) != Some(Form::Seconds) {
        return None;
    }
    match number.as_str() {
        "1000" | "1000.0" => Some(Form::Milliseconds),
        "1000000" | "1000000.0" => Some(Form::Microseconds),
        _ => None,
    }
}
