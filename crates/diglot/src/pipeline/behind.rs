//! The condition by which a page begins behind a row, made of the ORDER BY of its statement.

use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::infer::Signature;
use crate::page::{Behind, BehindWord, Cardinality, OptionalPart, RawStatement};
use crate::resolve::is_aggregate_call;
use crate::rule;
use crate::source::Span;
use crate::tree::{Body, Expr, ExprKind, OrderKey, Query, Rows, Select, Statement};

/// One key of the order.
struct Key {
    /// The column as SQL names it.
    column: String,
    /// The parameter that has the last row's value of it.
    value: String,
    nullable: bool,
    desc: bool,
    nulls_first: bool,
}

/// The condition for a page whose statement was read without it; or why there is none.
pub(super) fn of(raw: &RawStatement, tree: &Statement, part: &OptionalPart) -> Result<Behind, Box<Diagnostic>> {
    let name = part.chooser.page().unwrap_or_default();
    let query = whole_query(raw, tree, part)?;
    let Rows::Select(select) = &query.rows else { return Err(bad(raw, part, query.span, "is no one SELECT")) };
    plain(raw, part, query, select)?;
    let key = |key: &OrderKey| {
        let (column, field) = named(select, &key.expr).ok_or_else(|| {
            let message = format!("{}: a key of the page is no column of the result", raw.name);
            let finding = Diagnostic::error(rule::BAD_PAGE, message, key.span, "the last row would not tell its value");
            let help = "sort by columns that stand in the result; an expression goes into a query in FROM";
            Box::new(finding.context(part.mark, "the page").help(help))
        })?;
        Ok(Key {
            column,
            value: format!("{name}.{field}"),
            nullable: key.expr.ty.as_ref().is_none_or(|ty| ty.nullable),
            desc: key.desc,
            nulls_first: key.nulls_first.unwrap_or(key.desc == (tree.dialect == Dialect::Pg)),
        })
    };
    let keys = query.order.iter().map(key).collect::<Result<Vec<Key>, Box<Diagnostic>>>()?;
    let statement = tree.result.and_then(|part| tree.parts.get(part)).map_or(0, |part| part.statement);
    Ok(Behind { statement, mark: part.mark, words: condition(&keys) })
}

fn bad(raw: &RawStatement, part: &OptionalPart, at: Span, what: &str) -> Box<Diagnostic> {
    let message = format!("{}: a page cannot be made of it: it {what}", raw.name);
    let finding = Diagnostic::error(rule::BAD_PAGE, message, at, what.to_owned()).context(part.mark, "the page");
    Box::new(finding.help("a page is one SELECT with ORDER BY and LIMIT; what groups or folds goes into FROM"))
}

fn whole_query<'t>(raw: &RawStatement, tree: &'t Statement, part: &OptionalPart) -> Result<&'t Query, Box<Diagnostic>> {
    if !matches!(raw.cardinality, Cardinality::Many | Cardinality::Stream) {
        return Err(bad(raw, part, raw.cardinality_span, "gives no list of rows"));
    }
    match tree.result.and_then(|part| tree.parts.get(part)).map(|part| &part.body) {
        Some(Body::Query(query)) => Ok(query),
        _ => Err(bad(raw, part, raw.name_span, "is no query")),
    }
}

/// What WHERE decides is decided before rows are grouped, numbered and skipped.
fn plain(raw: &RawStatement, part: &OptionalPart, query: &Query, select: &Select) -> Result<(), Box<Diagnostic>> {
    let inside = |is: fn(&Expr) -> bool| {
        let columns = select.columns.iter().map(|column| &column.expr);
        columns.flat_map(Expr::exprs).find(|expr| is(expr)).map(|expr| expr.span)
    };
    let numbers = |expr: &Expr| matches!(&expr.kind, ExprKind::Call { over: Some(_), .. });
    let faults = [
        (select.distinct.as_ref().map(|(_, span)| *span), "leaves rows out that are there twice"),
        (select.group.first().or(select.having.as_ref()).map(|expr| expr.span), "groups"),
        (select.columns.iter().find(|column| is_aggregate_call(&column.expr)).map(|column| column.span), "folds"),
        (inside(numbers), "has a window"),
        (query.offset.as_ref().map(|expr| expr.span), "skips rows"),
        (query.order.is_empty().then_some(query.span), "has no ORDER BY"),
        (query.limit.is_none().then_some(query.span), "has no LIMIT"),
    ];
    match faults.into_iter().find_map(|(at, what)| Some((at?, what))) {
        Some((at, what)) => Err(bad(raw, part, at, what)),
        None => Ok(()),
    }
}

/// A key as SQL names it in WHERE, and the column of the result that has its value.
fn named(select: &Select, expr: &Expr) -> Option<(String, String)> {
    let (bare, collation) = match &expr.kind {
        ExprKind::Collate { expr, collation } => (&**expr, format!(" COLLATE {}", quoted(collation))),
        _ => (expr, String::new()),
    };
    let ExprKind::Column { source, column } = &bare.kind else { return None };
    let is_it = |of: &Expr| matches!(&of.kind, ExprKind::Column { source: s, column: c } if s == source && c == column);
    let field = select.columns.iter().find(|given| is_it(&given.expr))?.name.clone();
    let alias = &select.from.iter().find(|from| from.id == *source)?.alias;
    Some((format!("{}.{}{collation}", quoted(alias), quoted(column)), field))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn sql(text: impl Into<String>) -> BehindWord {
    BehindWord::Sql(text.into())
}

impl Key {
    fn value(&self) -> BehindWord {
        BehindWord::Value { name: self.value.clone(), nullable: self.nullable }
    }

    /// The comparison of those behind.
    fn sign(&self) -> &'static str {
        if self.desc { "<" } else { ">" }
    }
}

fn condition(keys: &[Key]) -> Vec<BehindWord> {
    match keys {
        // A comparison of rows finds its place in an index by all of its keys.
        [first, _, ..] if keys.iter().all(|key| !key.nullable && key.desc == first.desc) => {
            let columns: Vec<&str> = keys.iter().map(|key| key.column.as_str()).collect();
            let mut words = vec![sql(format!("({}) {} (", columns.join(", "), first.sign()))];
            for (at, key) in keys.iter().enumerate() {
                words.extend((at > 0).then(|| sql(",")));
                words.push(key.value());
            }
            words.push(sql(")"));
            words
        }
        _ => in_turn(keys),
    }
}

/// What is behind by the first key, or the same by it and behind by the others.
fn in_turn(keys: &[Key]) -> Vec<BehindWord> {
    let [key, rest @ ..] = keys else { return Vec::new() };
    let (column, sign) = (&key.column, key.sign());
    let mut words = Vec::new();
    if !key.nullable && !rest.is_empty() {
        // The bound alone is what an index finds its place by.
        words.extend([
            sql(format!("{column} {sign}=")),
            key.value(),
            sql(format!("AND ({column} {sign}")),
            key.value(),
        ]);
        words.push(sql("OR ("));
        words.extend(in_turn(rest));
        words.push(sql("))"));
        return words;
    }
    words.extend([sql(format!("{column} {sign}")), key.value()]);
    if !key.nullable {
        return words;
    }
    let (not_here, not_there) = if key.nulls_first { ("NOT ", "") } else { ("", "NOT ") };
    words.push(sql(format!("OR ({column} IS {not_here}NULL AND")));
    words.extend([key.value(), sql(format!("IS {not_there}NULL)"))]);
    if !rest.is_empty() {
        words.extend([sql(format!("OR ({column} IS NOT DISTINCT FROM")), key.value(), sql("AND (")]);
        words.extend(in_turn(rest));
        words.push(sql("))"));
    }
    words
}

/// Keys of which the result has a value of another type, so that no row could give its key.
pub(super) fn unlike(raw: &RawStatement, signature: &Signature) -> Vec<Diagnostic> {
    let Some(part) = raw.optional.iter().find(|part| part.chooser.page().is_some()) else { return Vec::new() };
    let each = signature.params.iter().filter_map(|param| {
        let (_, field) = param.of_key()?;
        let column = signature.columns.iter().find(|column| column.name == field)?;
        if (&column.ty.base, &column.rust) == (&param.ty.base, &param.rust) {
            return None;
        }
        let message =
            format!("{}: `{field}` is `{}` in the result and `{}` where it sorts", raw.name, column.ty, param.ty);
        let finding = Diagnostic::error(rule::BAD_PAGE, message, part.mark, "the last row gives no value of its type");
        Some(finding.help("give the column in the result as it is, without a type of its own"))
    });
    each.collect()
}
