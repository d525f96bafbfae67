//! Lists whose rows are the calls of a statement for one row: they take what it takes, and give each call its answer.

use std::collections::BTreeMap;

use super::code::{Code, line};
use super::functions::{Bodies, output_of};
use super::{Api, LINTS, feature, functions, keys, params, structs, values};
use crate::config::{Config, Driver};
use crate::dialect::Dialect;
use crate::infer::{Param, ResultColumn, RowsParam, Signature};
use crate::names::ident;
use crate::page::Cardinality;
use crate::types::Base;

/// The statements for one row whose calls lists make, by the names of the lists.
pub(super) fn of_lists<'s>(signatures: &[&'s Signature]) -> BTreeMap<&'s str, &'s Signature> {
    let pair = |list: &&'s Signature| {
        let calls = list.rows.as_ref()?.calls.as_ref()?;
        let one = signatures.iter().find(|one| one.name == calls.of)?;
        fits(list, one).then_some((list.name.as_str(), *one))
    };
    signatures.iter().filter_map(pair).collect()
}

/// Signatures of functions: where a list of Postgres makes the calls of a statement that SQLite alone has, both have it, and
/// it takes and gives what the columns of both databases hold.
pub(crate) fn completed(mut signatures: Vec<Signature>) -> Vec<Signature> {
    let lists = signatures.iter().filter_map(|list| {
        let rows = list.rows.as_ref()?;
        Some((rows.calls.as_ref()?.of.clone(), rows.fields.clone(), list.columns.clone()))
    });
    for (of, fields, columns) in lists.collect::<Vec<_>>() {
        let one = signatures.iter_mut().find(|one| one.name == of && one.dialects == [Dialect::Sqlite]);
        let Some(one) = one else { continue };
        for param in &mut one.params {
            let field = fields.iter().find(|field| field.name == param.name);
            if let Some(field) = field.filter(|field| is_held_by(&field.ty.base, &param.ty.base)) {
                param.ty.base = field.ty.base.clone();
                param.rust.clone_from(&field.rust);
                param.within.clone_from(&field.within);
            }
        }
        for column in &mut one.columns {
            let given = columns.iter().find(|given| given.name == column.name);
            if let Some(given) = given.filter(|given| is_held_by(&given.ty.base, &column.ty.base)) {
                column.ty.base = given.ty.base.clone();
                column.rust.clone_from(&given.rust);
            }
        }
    }
    let all: Vec<&Signature> = signatures.iter().collect();
    let called: Vec<String> = of_lists(&all).into_values().map(|one| one.name.clone()).collect();
    for one in signatures.iter_mut().filter(|one| called.contains(&one.name)) {
        one.dialects = Dialect::ALL.to_vec();
    }
    signatures
}

/// Whether what a column of Postgres holds is held by one of SQLite too, whose numbers are all of one width and whose ids are
/// bytes.
fn is_held_by(pg: &Base, sqlite: &Base) -> bool {
    pg == sqlite || matches!((pg, sqlite), (Base::Int16 | Base::Int32, Base::Int64) | (Base::Uuid, Base::Bytes))
}

/// The body of a function of Postgres that is a list of one call.
pub(super) fn single(code: &mut Code, config: &Config, (list, one): (&Signature, &Signature), connection: &str) {
    let name = ident(&list.name);
    // A method is elsewhere, a function stands beside that of the list.
    let path = if connection == "self" { format!("{}::", module(config)) } else { String::new() };
    line!(code, "let answers = {path}{name}({connection}, &[params]).await?;");
    let first = "answers.into_iter().next()";
    match one.cardinality {
        Cardinality::Opt => line!(code, "Ok({first}.flatten())"),
        Cardinality::Many => line!(code, "Ok({first}.unwrap_or_default())"),
        _ => {
            let statement = functions::quoted(&one.noun, &one.name);
            line!(code, "{first}.ok_or_else(|| diglot_support::no_row({statement}))");
        }
    }
}

/// Whether the rows of a list can be the calls of a statement, and its answers theirs.
fn fits(list: &Signature, one: &Signature) -> bool {
    let Some(rows) = &list.rows else { return false };
    let is_taken = |field: &Param| param(one, &field.name).is_some_and(|param| is_alike(field, param));
    let is_given = |column: &ResultColumn| list.columns.iter().any(|own| own.name == column.name);
    let gives_rows = matches!(one.cardinality, Cardinality::One | Cardinality::Opt | Cardinality::Many);
    gives_rows
        && values::may_be(one)
        && one.dialects.contains(&Dialect::Sqlite)
        && one.cardinality == list.cardinality
        && list.params.is_empty()
        && rows.fields.iter().all(is_taken)
        && one.columns.iter().all(is_given)
}

/// Whether a parameter holds what the field of a list does. A list of values is a document there.
fn is_alike(field: &Param, param: &Param) -> bool {
    let is_list = field.ty.base == Base::Json && matches!(param.ty.base, Base::TextArray | Base::Int64Array);
    !param.optional && (field.ty.base == param.ty.base || is_list)
}

/// The parameter of that name, which a field of a list holds.
fn param<'s>(one: &'s Signature, name: &str) -> Option<&'s Param> {
    one.params.iter().find(|param| param.name == name)
}

/// The expression that binds a field for the call that is called `row`.
pub(super) fn bind(config: &Config, one: &Signature, field: &Param) -> Option<String> {
    let param = param(one, &field.name)?;
    let bound = params::bind(config, Dialect::Pg, false, ("row", param));
    Some(match (field.ty.base == param.ty.base, param.ty.nullable) {
        (true, _) => bound,
        (false, false) => format!("serde_json::Value::from({bound})"),
        (false, true) => format!("{bound}.map(serde_json::Value::from)"),
    })
}

/// The columns of a call's answer, as the list gives them.
pub(super) fn answered(list: &Signature, one: &Signature) -> Vec<ResultColumn> {
    let column = |column: &ResultColumn| {
        let given = list.columns.iter().find(|own| own.name == column.name)?;
        Some(ResultColumn { sqlite: given.sqlite.clone(), pg: given.pg.clone(), ..column.clone() })
    };
    one.columns.iter().filter_map(column).collect()
}

/// The trait of what goes by lists, and its implementations; nothing where no list takes calls.
pub(super) fn definitions(code: &mut Code, style: &structs::Style, api: &Api<'_>, bodies: &Bodies<'_>) {
    let lists = api.functions.iter().filter_map(|function| Some((function.signature, function.one?)));
    let lists: Vec<(&Signature, &Signature)> = lists.collect();
    if lists.is_empty() {
        return;
    }
    let gate =
        api.config.pg_feature.as_ref().map_or(String::new(), |feature| format!("#[cfg(feature = {feature:?})]\n"));
    code.gap();
    code.block(
        &TRAIT
            .replace("pub trait", &format!("{gate}{LINTS}\n{} trait", style.seen))
            .replace("mut sqlx::PgConnection", on(api.config))
            .replace("sqlx::Error", functions::error(api.config)),
    );
    for (list, one) in lists {
        code.gap();
        feature(code, api.config, Dialect::Pg);
        line!(code, "{LINTS}");
        implementation(code, api.config, bodies, list, one);
    }
}

fn implementation(code: &mut Code, config: &Config, bodies: &Bodies<'_>, list: &Signature, one: &Signature) {
    let Some((rows, path)) = list.rows.as_ref().zip(params::path(config, one)) else { return };
    let lifetime = if path.ends_with("<'a>") { "<'p>" } else { "" };
    code.open(format_args!("impl{lifetime} Listed for {} {{", path.replace("<'a>", lifetime)));
    let by: Vec<&Param> = rows.calls.iter().filter_map(|calls| param(one, calls.by.as_ref()?)).collect();
    let key: Vec<&Param> = rows.key.iter().filter_map(|name| param(one, name)).collect();
    line!(code, "type Group = {};", tuple(by.iter().map(|param| params::field_at_top(config, param))));
    line!(code, "type Key = {};", tuple(key.iter().map(|param| params::field_at_top(config, param))));
    let all = |params: &[&Param]| tuple(params.iter().map(|param| keys::place("self", *param) + ".clone()"));
    code.gap();
    code.open(format_args!("fn group(&self) -> Option<Self::Group> {{"));
    let left_out = one.params.iter().filter(|param| is_left_out(rows, param));
    let asked: Vec<String> = left_out.map(|param| keys::place("self", param) + ".is_none()").collect();
    match asked.as_slice() {
        [] => line!(code, "Some({})", all(&by)),
        asked => line!(code, "({}).then(|| {})", asked.join(" && "), all(&by)),
    }
    code.close("}");
    code.gap();
    code.open(format_args!("fn key(&self) -> Option<Self::Key> {{"));
    if key.is_empty() {
        line!(code, "None")
    } else {
        line!(code, "Some({})", all(&key))
    }
    code.close("}");
    code.gap();
    let (output, error) = (output_of(config, one), functions::error(config));
    code.list(
        "fn run_list<'a>(",
        &["calls: &'a [&'a Self]".to_owned(), format!("on: &'a {}", on(config))],
        &format!(") -> impl std::future::Future<Output = Result<Vec<{output}>, {error}>> + Send + 'a {{"),
    );
    code.inside(|code| match bodies {
        Bodies::Real => line!(code, "{}::{}(on, calls)", module(config), ident(&list.name)),
        Bodies::Stubs(_) => {
            line!(code, "let _ = (calls, on);");
            line!(code, "{}", functions::BROKEN);
        }
    });
    code.close("}");
    code.close("}");
}

/// Whether a call that gives this parameter is none for the list.
fn is_left_out(rows: &RowsParam, param: &Param) -> bool {
    param.ty.nullable && rows.fields.iter().all(|field| field.name != param.name)
}

/// The type or the value of several; that of one is its own.
fn tuple(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.as_slice() {
        [only] => only.clone(),
        _ => functions::tuple(items),
    }
}

/// The path of what a list takes, without the lifetime of what that borrows.
pub(super) fn argument(config: &Config, one: &Signature) -> Option<String> {
    params::path(config, one).map(|path| format!("list: &'a [&'a {path}]"))
}

/// What a list is run on.
fn on(config: &Config) -> &'static str {
    match config.generate.driver {
        Driver::Sqlx => "mut sqlx::PgConnection",
        Driver::Pair => "impl pg::Session",
    }
}

/// Where the functions of lists stand.
fn module(config: &Config) -> &'static str {
    match config.generate.driver {
        Driver::Sqlx => "pg_only",
        Driver::Pair => "pg",
    }
}

const TRAIT: &str = "/// A statement of which Postgres makes several calls at once, by a list.
pub trait Listed: Statement {
    /// What the calls of one list have alike.
    type Group: Clone + Eq + std::hash::Hash + Send;
    /// What no two calls of one list have alike.
    type Key: Eq + std::hash::Hash + Send;

    /// The calls with which it may go; none where it gives what the list does not take.
    fn group(&self) -> Option<Self::Group>;

    /// What no other call of its list may have, if there is such a thing.
    fn key(&self) -> Option<Self::Key>;

    /// Makes the calls, in one call to the database, and gives their answers in the same order.
    fn run_list<'a>(
        calls: &'a [&'a Self],
        on: &'a mut sqlx::PgConnection,
    ) -> impl std::future::Future<Output = Result<Vec<Self::Output>, sqlx::Error>> + Send + 'a;
}";
