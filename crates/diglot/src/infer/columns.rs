//! Settles name, type and nullability of every result column.

use std::collections::BTreeSet;

use super::handed::Handed;
use super::origin::{self, Deep, Origin};
use super::{PageOf, Param, ResultColumn, column_annotation, declared, newtype, refined, walk};
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::names::is_field_name;
use crate::page::Cardinality;
use crate::rule;
use crate::schema::Schema;
use crate::source::Span;
use crate::tree::{Body, ExprKind, Part, Rows, Statement};
use crate::types::{Base, Type};

/// A result column as one page gives it.
struct Column<'a> {
    name: String,
    base: Option<Base>,
    nullable: bool,
    origin: Option<Origin<'a>>,
    /// What its values are, where they are not made here.
    handed: Handed<'a>,
    span: Span,
}

/// Whether a statement hands rows to its reader.
pub(super) fn gives_rows(part: &Part) -> bool {
    match &part.body {
        Body::Query(_) => true,
        Body::Insert(insert) => !insert.returning.is_empty(),
        Body::Update(update) => !update.returning.is_empty(),
        Body::Delete(delete) => !delete.returning.is_empty(),
    }
}

/// Whether both pages give columns of the same names.
pub(crate) fn same_names(sqlite: &PageOf<'_>, pg: &PageOf<'_>) -> bool {
    let names = |page: &PageOf<'_>| {
        let columns = of_page(page.tree, &[]).into_iter();
        columns.map(|column| column.name).collect::<BTreeSet<String>>()
    };
    names(sqlite) == names(pg)
}

/// The result columns in order. `None` when one of them has no type; then there is a finding.
pub(super) fn infer(
    config: &Config,
    pages: &[&PageOf<'_>],
    params: &[Param],
    facing: Option<&Schema>,
    found: &mut Vec<Diagnostic>,
) -> Option<Vec<ResultColumn>> {
    let mut by_page = pages.iter().map(|page| (page.tree.dialect, of_page(page.tree, params)));
    let (dialect, first) = by_page.next()?;
    let second = by_page.next();
    let mut columns: Vec<ResultColumn> = Vec::new();
    let mut complete = true;
    for (i, column) in first.iter().enumerate() {
        // By name first: a page that swaps two columns is a finding of its own, and types must not follow it.
        let other = second
            .as_ref()
            .and_then(|(_, others)| others.iter().find(|other| other.name == column.name).or_else(|| others.get(i)));
        named_well(pages, column, &columns, found);
        match settle(config, pages, (dialect, column), other, facing, found) {
            Some(column) => columns.push(column),
            None => complete = false,
        }
    }
    complete.then_some(columns)
}

/// The columns of a pair of which no function can be made: those of the page that has more, with the types on which
/// both agree.
pub(super) fn partial(pages: Both<&PageOf<'_>>, params: &[Param]) -> Vec<(String, Option<Base>)> {
    let Both { sqlite, pg } = pages.map(|page| of_page(page.tree, params));
    let (more, other) = if sqlite.len() < pg.len() { (&pg, &sqlite) } else { (&sqlite, &pg) };
    let both = more.iter().enumerate().map(|(at, column)| {
        let bases = other.get(at).and_then(|other| column.base.as_ref().zip(other.base.as_ref()));
        // How SQLite holds it tells more than what it is.
        let stored = bases.and_then(|(a, b)| a.stored().or(b.stored()).filter(|it| [a, b].contains(&&it.of.base())));
        let finer = || bases.and_then(|(a, b)| Base::finer(a, b).or_else(|| Base::finer(b, a)));
        let base = stored.map(Base::Stored).or_else(finer);
        let name = if is_field_name(&column.name) { column.name.clone() } else { format!("column {}", at + 1) };
        (name, base)
    });
    both.collect()
}

fn of_page<'a>(tree: &'a Statement, params: &[Param]) -> Vec<Column<'a>> {
    let Some(part) = tree.result.and_then(|result| tree.parts.get(result)) else { return Vec::new() };
    // A SELECT under `:exec` is there for what its functions do; nobody reads its rows.
    if tree.cardinality == Cardinality::Exec && matches!(part.body, Body::Query(_)) {
        return Vec::new();
    }
    let sources = walk::sources(tree);
    let outputs = origin::outputs(part);
    let others = match &part.body {
        Body::Query(query) => right_sides(&query.rows),
        _ => Vec::new(),
    };
    outputs
        .iter()
        .enumerate()
        .map(|(i, output)| {
            let param = match &output.expr.kind {
                ExprKind::Param(name) => params.iter().find(|param| param.name == *name).map(|param| param.ty.clone()),
                _ => None,
            };
            let ty = output.expr.ty.clone().or(param);
            let origin = match sources.deep(&output.expr) {
                Deep::Table(origin) => Some(origin),
                Deep::Expr(_) | Deep::Field(_) | Deep::Unknown => None,
            };
            let mut handed = Handed::by(&sources, &output.expr);
            let mut nullable = ty.as_ref().is_none_or(|ty| ty.nullable);
            let mut base = ty.map(|ty| ty.base);
            for side in &others {
                let Some(output) = side.get(i) else { continue };
                handed = handed.and(&sources, &output.expr);
                nullable |= output.expr.ty.as_ref().is_none_or(|ty| ty.nullable);
                base = base.or_else(|| output.expr.ty.as_ref().map(|ty| ty.base.clone()));
            }
            Column { name: output.name.clone(), base, nullable, origin, handed, span: output.span }
        })
        .collect()
}

/// The result columns of a page, each with the columns of tables whose values it gives.
pub(super) fn origins(tree: &Statement) -> Vec<(String, Vec<Origin<'_>>)> {
    let each = of_page(tree, &[]).into_iter().map(|column| {
        let handed = if column.handed.other { Vec::new() } else { column.handed.origins };
        (column.name, column.origin.map_or(handed, |origin| vec![origin]))
    });
    each.collect()
}

/// For each result column of a page, whether a condition keeps it from being NULL although its table would
/// allow it. An engine that is asked knows the table alone.
pub(crate) fn narrowed(page: &PageOf<'_>) -> Vec<bool> {
    let Some(part) = page.tree.result.and_then(|result| page.tree.parts.get(result)) else { return Vec::new() };
    let sources = walk::sources(page.tree);
    let outputs = origin::outputs(part).iter().map(|output| match sources.deep(&output.expr) {
        Deep::Table(origin) => {
            let column = page.schema.tables.get(origin.table).and_then(|table| table.column(origin.column));
            column.is_some_and(|column| column.ty.nullable) && output.expr.is_present()
        }
        Deep::Expr(_) | Deep::Field(_) | Deep::Unknown => false,
    });
    outputs.collect()
}

/// The select lists of the right sides of set operations.
fn right_sides(rows: &Rows) -> Vec<&[crate::tree::OutputColumn]> {
    match rows {
        Rows::Set { left, right, .. } => {
            let mut sides = right_sides(left);
            sides.push(origin::query_outputs(right));
            sides.extend(right_sides(right));
            sides
        }
        Rows::Query(query) => right_sides(&query.rows),
        Rows::Select(_) | Rows::Values(..) => Vec::new(),
    }
}

fn named_well(pages: &[&PageOf<'_>], column: &Column<'_>, before: &[ResultColumn], found: &mut Vec<Diagnostic>) {
    let statement = pages.first().map_or("", |page| page.raw.name.as_str());
    if !is_field_name(&column.name) {
        let message = format!("{statement}: the result column `{}` has no name that a field can have", column.name);
        found.push(
            Diagnostic::error(rule::COLUMN_UNNAMED, message, column.span, "needs an alias")
                .help("give it a name in snake case: `expression AS name`, alike on both pages"),
        );
    } else if before.iter().any(|known| known.name == column.name) {
        let message = format!("{statement}: two result columns are called `{}`", column.name);
        found.push(
            Diagnostic::error(rule::COLUMN_DUPLICATE, message, column.span, "the second one")
                .help("give one of them another name: `expression AS name`, alike on both pages"),
        );
    }
}

fn settle(
    config: &Config,
    pages: &[&PageOf<'_>],
    (dialect, column): (Dialect, &Column<'_>),
    other: Option<&Column<'_>>,
    facing: Option<&Schema>,
    found: &mut Vec<Diagnostic>,
) -> Option<ResultColumn> {
    let statement = &pages.first()?.raw.name;
    let annotations = column_annotation(pages, &column.name);
    let declared = declared("column", statement, &column.name, &annotations, found);
    let alone = || column.base.clone().map(|base| refined(base, column.origin.as_ref(), facing));
    let known = other.map_or_else(alone, |other| finer(column, other));
    let ty = match (&declared, known) {
        (Some(ty), _) => ty.clone(),
        (None, Some(base)) => Type { base, nullable: column.nullable || other.is_some_and(|other| other.nullable) },
        (None, None) => {
            found.push(untyped(statement, column, other));
            return None;
        }
    };
    let on = |page: Dialect| if page == dialect { Some(column) } else { other };
    for (page, column) in Dialect::ALL.into_iter().filter_map(|page| Some((page, on(page)?))) {
        if let Some(given) = &column.base
            && !converts(page, given, &ty.base)
        {
            found.push(unfit(statement, page, (&column.name, column.span), given, &ty.base));
            return None;
        }
    }
    if let Some(column) = on(Dialect::Sqlite).filter(|column| column.base.is_none())
        && (ty.base.is_time() || ty.base == Base::Numeric)
    {
        let message = format!("{statement}: nothing says how SQLite gives `{}`, a `{}`", column.name, ty.base.word());
        let help = format!("give a column that holds one, or write its type: `-- column: {} f64 null`", column.name);
        found.push(Diagnostic::error(rule::COLUMN_TYPE_CONFLICT, message, column.span, "of unknown type").help(help));
        return None;
    }
    if let (Base::Enum(words), true) = (&ty.base, config.generate.queries.is_macro()) {
        let given = on(Dialect::Pg).unwrap_or(column);
        let message = format!("{statement}: sqlx's macros do not know `{}`, the enum of `{}`", words.name, column.name);
        let finding = Diagnostic::error(rule::COLUMN_TYPE_CONFLICT, message, given.span, "an enum of Postgres");
        let plain = "or `queries = \"plain\"` below `[generate]` in `diglot.toml`: then it is an enum in Rust too";
        found.push(finding.help(format!("write `{0}::text AS {0}` on the Postgres page", column.name)).help(plain));
        return None;
    }
    let rust = rust_type(config, pages, &ty.base, [Some(column), other].into_iter().flatten());
    let base_on = |page: Dialect| on(page).and_then(|column| column.base.clone());
    Some(ResultColumn {
        name: column.name.clone(),
        ty,
        rust,
        sqlite: base_on(Dialect::Sqlite),
        pg: base_on(Dialect::Pg),
        within: None,
    })
}

/// The Rust type of a column that pages give. What is chosen among columns and words is one of the words as well.
fn rust_type<'c>(
    config: &Config,
    pages: &[&PageOf<'_>],
    base: &Base,
    columns: impl Iterator<Item = &'c Column<'c>> + Clone,
) -> Option<String> {
    let chosen = columns.clone().filter(|column| column.origin.is_none() && is_chosen(config, &column.handed));
    let origins = columns.filter_map(|column| column.origin.as_ref()).chain(chosen.flat_map(|c| &c.handed.origins));
    newtype(config, pages, base, origins)
}

/// Whether values are those of columns of one Rust type, or words of them.
fn is_chosen(config: &Config, handed: &Handed<'_>) -> bool {
    let is_word = |text: &str| {
        handed.origins.iter().all(|origin| {
            let words = config.words_of(origin.table, origin.column);
            words.is_some_and(|listed| listed.words.iter().any(|word| word == text))
        })
    };
    let is_typed = |origin: &Origin<'_>| config.rust_type(origin.table, origin.column).is_some();
    !handed.other && handed.origins.iter().all(is_typed) && handed.texts.iter().all(|(text, _)| is_word(text))
}

fn finer(a: &Column<'_>, b: &Column<'_>) -> Option<Base> {
    match (&a.base, &b.base) {
        (Some(a), Some(b)) => Base::finer(a, b),
        (a, b) => a.clone().or_else(|| b.clone()),
    }
}

/// Whether what an engine gives can become a value of the API's type.
pub(crate) fn converts(dialect: Dialect, given: &Base, wanted: &Base) -> bool {
    use Base::{
        Bool, Bytes, Float64, Int16, Int32, Int64, Int64Array, Interval, Json, Numeric, Stored, Text, TextArray, Uuid,
        UuidArray,
    };
    match (given, wanted) {
        (Stored(stored), wanted) if stored.of.base() == *wanted => true,
        (Stored(stored), wanted) => converts(dialect, stored.form.seen(), wanted),
        (_, Interval | Stored(_)) | (Interval, _) => false,
        (Text, Base::Enum(_)) => dialect == Dialect::Sqlite,
        (a, b) if a == b => dialect == Dialect::Pg || !(a.is_time() || *a == Numeric),
        (_, b) if b.is_time() || *b == Numeric => false,
        (Int16 | Int32 | Int64, Int16 | Int32 | Int64 | Bool) => true,
        (Bool, Int16 | Int32 | Int64) => dialect == Dialect::Sqlite,
        (Bytes, Uuid) => true,
        (Text, Json | TextArray | Int64Array | UuidArray) => true,
        (Json, TextArray | Int64Array | UuidArray | Text) => dialect == Dialect::Sqlite,
        (Float64, _) | (_, Float64) => false,
        _ => false,
    }
}

const SUM: &str = "sums of bigint are numeric on Postgres: write `CAST(… AS bigint)`, on both pages";

fn untyped(statement: &str, column: &Column<'_>, other: Option<&Column<'_>>) -> Diagnostic {
    let name = &column.name;
    match (&column.base, other.and_then(|other| other.base.as_ref()), other) {
        (Some(a), Some(b), Some(other)) => {
            let message =
                format!("{statement}: the result column `{name}` cannot be both `{}` and `{}`", a.word(), b.word());
            let help = match [a, b].contains(&&Base::Numeric) {
                true => SUM,
                false => "write a CAST on one page, so that both give the same type",
            };
            Diagnostic::error(rule::COLUMN_TYPE_CONFLICT, message, column.span, format!("`{}` here", a.word()))
                .and(other.span, format!("`{}` here", b.word()))
                .help(help)
        }
        _ => {
            let message = format!("{statement}: nothing says what type the result column `{name}` has");
            Diagnostic::error(rule::COLUMN_TYPE_UNKNOWN, message, column.span, "of unknown type")
                .help(format!("write its type above the statement: `-- column: {name} text`, or with `text null`"))
                .help("or write a CAST around it, on both pages")
        }
    }
}

/// An engine gives what cannot become a value of the API's type.
pub(crate) fn unfit(
    statement: &str,
    dialect: Dialect,
    (name, place): (&str, Span),
    given: &Base,
    wanted: &Base,
) -> Diagnostic {
    let message = format!(
        "{statement}: {} gives `{}` for `{name}`, which cannot become `{}`",
        dialect.title(),
        given.word(),
        wanted.word()
    );
    let help = match given {
        Base::Numeric => SUM.to_owned(),
        base if base.is_time() => "give the same on both pages: the column, or its milliseconds as bigint".to_owned(),
        _ => format!("write a CAST on the {} page, or declare another type: `-- column: {name} …`", dialect.title()),
    };
    Diagnostic::error(rule::COLUMN_TYPE_CONFLICT, message, place, format!("`{}` here", given.word())).help(help)
}
