//! Expressions of a schema as texts that are alike where their meanings are: defaults, checks, predicates.

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, UnaryOperator, Value,
    VisitMut, visit_expressions_mut,
};
use sqlparser::parser::Parser;

use crate::dialect::Dialect;
use crate::grammar::grammar;

/// The condition that a text says, as [`condition`] gives it; none when it cannot be read.
pub(crate) fn condition_of(sql: &str, dialect: Dialect) -> Option<String> {
    expression(sql, dialect).as_ref().map(condition)
}

/// An expression that a schema holds as its text.
pub(super) fn expression(sql: &str, dialect: Dialect) -> Option<Expr> {
    Parser::new(grammar(dialect)).try_with_sql(sql).ok()?.parse_expr().ok()
}

/// A condition in which a column has another name, with its text; none when it cannot be read.
pub(super) fn renamed(sql: &str, old: &str, new: &str) -> Option<Expr> {
    let mut expr = Dialect::ALL.into_iter().find_map(|dialect| expression(sql, dialect))?;
    let _ = visit_expressions_mut(&mut expr, |inner| {
        let name = match inner {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.last_mut(),
            _ => None,
        };
        if let Some(ident) = name.filter(|ident| ident.value.eq_ignore_ascii_case(old)) {
            new.clone_into(&mut ident.value);
        }
        ControlFlow::<()>::Continue(())
    });
    Some(expr)
}

/// Makes what stands in double quotes in a statement of SQLite, and is no column, the text that SQLite takes it for.
pub(super) fn take_quoted_texts(statement: &mut impl VisitMut, is_column: impl Fn(&str) -> bool) {
    let _ = visit_expressions_mut(statement, |inner| {
        if let Expr::Identifier(ident) = inner
            && ident.quote_style == Some('"')
            && !is_column(&ident.value.to_lowercase())
        {
            *inner = Expr::value(Value::SingleQuotedString(ident.value.clone()));
        }
        ControlFlow::<()>::Continue(())
    });
}

/// A key of an index, or of a conflict target that fits it.
pub(crate) fn key(expr: &Expr) -> String {
    normal(expr)
}

/// A condition: a bare flag is `flag = 1`.
pub(super) fn condition(expr: &Expr) -> String {
    match expr {
        Expr::Nested(inner) => condition(inner),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => sorted("=", vec![normal(expr), "1".to_owned()]),
        Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => match &**inner {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => sorted("=", vec![normal(inner), "0".to_owned()]),
            inner => format!("not({})", condition(inner)),
        },
        Expr::BinaryOp { left, op: op @ (BinaryOperator::And | BinaryOperator::Or), right } => {
            let word = if *op == BinaryOperator::And { "and" } else { "or" };
            let mut sides = Vec::new();
            gather(left, op, &mut sides);
            gather(right, op, &mut sides);
            sorted(word, sides)
        }
        _ => normal(expr),
    }
}

/// What a condition asks for at once, one by one.
pub(super) fn conjuncts(expr: &Expr) -> Vec<String> {
    let mut sides = Vec::new();
    gather(expr, &BinaryOperator::And, &mut sides);
    sides
}

/// All of these at once, as [`condition`] gives it.
pub(super) fn all_of(conditions: Vec<String>) -> String {
    sorted("and", conditions)
}

fn gather(expr: &Expr, wanted: &BinaryOperator, sides: &mut Vec<String>) {
    match expr {
        Expr::Nested(inner) => gather(inner, wanted, sides),
        Expr::BinaryOp { left, op, right } if op == wanted => {
            gather(left, wanted, sides);
            gather(right, wanted, sides);
        }
        _ => sides.push(condition(expr)),
    }
}

/// The longest text that may stand in two places of another. Each level of longer ones would double those below it.
const LONGEST_REPEATED: usize = 1_000;

/// A value.
pub(super) fn normal(expr: &Expr) -> String {
    match expr {
        Expr::Identifier(ident) => ident.value.to_lowercase(),
        Expr::CompoundIdentifier(parts) => parts.last().map_or(String::new(), |part| part.value.to_lowercase()),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => normal(inner),
        Expr::Value(value) => literal(&value.value),
        Expr::UnaryOp { op: UnaryOperator::Plus, expr: inner } => normal(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } => format!("-{}", normal(inner)),
        Expr::BinaryOp { op: BinaryOperator::And | BinaryOperator::Or, .. } => condition(expr),
        Expr::BinaryOp { left, op: BinaryOperator::LongArrow | BinaryOperator::HashLongArrow, right }
            if is_text(right) =>
        {
            format!("json_extract({}, {})", normal(left), steps(right))
        }
        Expr::BinaryOp { left, op, right } => {
            let (left, right) = (normal(left), normal(right));
            match op {
                BinaryOperator::Eq => match (left.as_str(), right.as_str()) {
                    (kind, word) if kind.starts_with("json kind(") => sorted("=", vec![left.clone(), kind_of(word)]),
                    (word, kind) if kind.starts_with("json kind(") => sorted("=", vec![kind_of(word), right.clone()]),
                    _ => sorted("=", vec![left, right]),
                },
                BinaryOperator::NotEq => sorted("<>", vec![left, right]),
                BinaryOperator::Gt => format!("<({right}, {left})"),
                BinaryOperator::GtEq => format!("<=({right}, {left})"),
                BinaryOperator::Lt => format!("<({left}, {right})"),
                BinaryOperator::LtEq => format!("<=({left}, {right})"),
                BinaryOperator::Custom(word) if word == "IS" => sorted("is", vec![left, right]),
                BinaryOperator::Custom(word) if word == "IS NOT" => sorted("is not", vec![left, right]),
                op => format!("{}({left}, {right})", op.to_string().to_lowercase()),
            }
        }
        Expr::IsNotDistinctFrom(left, right) => sorted("is", vec![normal(left), normal(right)]),
        Expr::IsDistinctFrom(left, right) => sorted("is not", vec![normal(left), normal(right)]),
        Expr::IsNull(inner) => format!("is null({})", normal(inner)),
        Expr::IsNotNull(inner) => format!("is not null({})", normal(inner)),
        Expr::InList { expr: inner, list, negated } => {
            let items = sorted("list", list.iter().map(normal).collect());
            format!("{}({}, {items})", if *negated { "not in" } else { "in" }, normal(inner))
        }
        Expr::Between { expr: inner, negated: false, low, high } => {
            let (value, low, high) = (normal(inner), normal(low), normal(high));
            if value.len() > LONGEST_REPEATED {
                return format!("between({value}, {low}, {high})");
            }
            sorted("and", vec![format!("<=({low}, {value})"), format!("<=({value}, {high})")])
        }
        Expr::Case { operand: None, conditions, else_result, .. } => {
            let branch = |when: &CaseWhen| format!("when({}, {})", condition(&when.condition), normal(&when.result));
            let mut kids: Vec<String> = conditions.iter().map(branch).collect();
            kids.extend(else_result.iter().map(|last| normal(last)));
            format!("case({})", kids.join(", "))
        }
        // Each branch asks whether the operand is its value.
        Expr::Case { operand: Some(operand), conditions, else_result, .. } => {
            let operand = normal(operand);
            let once = operand.len() > LONGEST_REPEATED;
            let is = |value: String| if once { value } else { sorted("=", vec![operand.clone(), value]) };
            let branch = |when: &CaseWhen| format!("when({}, {})", is(normal(&when.condition)), normal(&when.result));
            let mut kids: Vec<String> = once.then(|| operand.clone()).into_iter().collect();
            kids.extend(conditions.iter().map(branch));
            kids.extend(else_result.iter().map(|last| normal(last)));
            format!("case({})", kids.join(", "))
        }
        Expr::Function(function) => call(function),
        other => other.to_string().to_lowercase(),
    }
}

fn call(function: &Function) -> String {
    let name = function.name.to_string().to_lowercase();
    let name = match name.as_str() {
        "ifnull" => "coalesce",
        "char_length" => "length",
        "octet_length" => "length",
        "json_type" | "json_typeof" | "jsonb_typeof" if one_argument(function) => "json kind",
        other => other,
    };
    let FunctionArguments::List(list) = &function.args else { return function.to_string().to_lowercase() };
    let argument = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => normal(expr),
        other => other.to_string().to_lowercase(),
    };
    if let ("json_extract", [document, FunctionArg::Unnamed(FunctionArgExpr::Expr(path))]) =
        (name, list.args.as_slice())
    {
        return format!("json_extract({}, {})", argument(document), steps(path));
    }
    format!("{name}({})", list.args.iter().map(argument).collect::<Vec<_>>().join(", "))
}

fn one_argument(function: &Function) -> bool {
    matches!(&function.args, FunctionArguments::List(list) if list.args.len() == 1)
}

/// What Postgres calls a kind of JSON that SQLite has another word for.
fn kind_of(word: &str) -> String {
    if word == "'text'" { "'string'".to_owned() } else { word.to_owned() }
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_)))
}

/// A path of keys, `'$.key'`, `'key'` or `'{key}'`: as a key of an index all find the same texts.
fn steps(path: &Expr) -> String {
    let text = normal(path);
    let inner = text.trim_matches('\'');
    let keys: Vec<&str> =
        match (inner.strip_prefix("$."), inner.strip_prefix('{').and_then(|list| list.strip_suffix('}'))) {
            (Some(keys), _) => keys.split('.').collect(),
            (_, Some(list)) => list.split(',').map(str::trim).collect(),
            _ => return text,
        };
    let is_plain = |key: &&str| !key.is_empty() && !key.contains(['.', '[', '"']) && key.parse::<i64>().is_err();
    if keys.iter().all(is_plain) { format!("'{}'", keys.join(".")) } else { text }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Boolean(true) => "1".to_owned(),
        Value::Boolean(false) => "0".to_owned(),
        Value::SingleQuotedString(text) => format!("'{text}'"),
        Value::Number(number, _) => number.clone(),
        other => other.to_string().to_lowercase(),
    }
}

fn sorted(head: &str, mut sides: Vec<String>) -> String {
    sides.sort();
    format!("{head}({})", sides.join(", "))
}
