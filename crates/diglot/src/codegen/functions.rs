//! The trait, its implementations, and the functions of statements that one dialect alone has.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::code::{Code, line};
use super::stubs::Stubs;
use super::{Api, Function, LINTS, calls, counts, enums, feature, list, pair, params, rows, sqlx, structs};
use crate::config::{Config, Driver, Traits};
use crate::dialect::Dialect;
use crate::emitted::{EmittedText, TextParam};
use crate::infer::Signature;
use crate::names::{camel, doc_line, ident};
use crate::page::{Cardinality, Chooser};

/// What stands in the functions.
pub(super) enum Bodies<'a> {
    /// Calls of the driver.
    Real,
    /// Errors at once; statements without a signature keep what an earlier run knew of them.
    Stubs(&'a Stubs<'a>),
}

/// The traits: their names, with the noun of those that have one.
pub(super) fn traits(api: &Api<'_>, bodies: &Bodies<'_>) -> Vec<(String, Option<String>)> {
    if api.config.generate.traits == Traits::One {
        return vec![("Statements".to_owned(), None)];
    }
    let shared = api.functions.iter().filter(|function| is_shared(function.signature));
    let mut nouns: BTreeSet<String> = shared.map(|function| function.signature.noun.clone()).collect();
    if let Bodies::Stubs(kept) = bodies {
        nouns.extend(kept.nouns());
    }
    nouns.into_iter().map(|noun| (ident(&format!("{}Statements", camel(&noun))).into_owned(), Some(noun))).collect()
}

/// The functions of a trait.
pub(super) fn of_trait<'f>(api: &'f Api<'f>, noun: Option<&'f str>) -> impl Iterator<Item = &'f Function<'f>> {
    let is_of = move |function: &&Function<'_>| noun.is_none_or(|noun| function.signature.noun == noun);
    api.functions.iter().filter(|function| is_shared(function.signature)).filter(is_of)
}

/// The traits that both connections implement.
pub(super) fn trait_items(code: &mut Code, style: &structs::Style, api: &Api<'_>, bodies: &Bodies<'_>) {
    for (name, noun) in traits(api, bodies) {
        code.gap();
        let which = noun.as_ref().map_or_else(String::new, |noun| format!(" of `{}`", doc_line(noun)));
        code.doc(&format!("The statements{which} that both databases have. Every method is one call to the database."));
        line!(code, "{LINTS}");
        code.open(format_args!("{} trait {name}: Send {{", style.seen));
        for function in of_trait(api, noun.as_deref()) {
            code.gap();
            docs(code, function.signature);
            method(code, api.config, function.signature, false, ";");
        }
        if let Bodies::Stubs(kept) = bodies {
            kept.declarations(code, noun.as_deref());
        }
        code.close("}");
    }
}

/// The implementations of the traits for a dialect's connections.
pub(super) fn implementations(code: &mut Code, api: &Api<'_>, dialect: Dialect, bodies: &Bodies<'_>) {
    let traits = traits(api, bodies);
    for (connection, (name, noun)) in
        connections(api.config, dialect).iter().flat_map(|connection| traits.iter().map(move |of| (connection, of)))
    {
        code.gap();
        feature(code, api.config, dialect);
        line!(code, "{LINTS}");
        code.open(format_args!("impl {name} for {connection} {{"));
        for function in of_trait(api, noun.as_deref()) {
            let signature = function.signature;
            code.gap();
            let is_async = matches!(bodies, Bodies::Real) && !is_stream(api.config, signature);
            method(code, api.config, signature, is_async, " {");
            code.inside(|code| match (bodies, api.config.generate.driver) {
                (Bodies::Real, Driver::Sqlx) => sqlx::body(code, api.config, function, dialect, "self"),
                (Bodies::Real, Driver::Pair) => pair::call(code, api.config, signature, dialect),
                (Bodies::Stubs(_), _) => stub(code, api.config, signature),
            });
            code.close("}");
        }
        if let Bodies::Stubs(kept) = bodies {
            kept.definitions(code, noun.as_deref());
        }
        code.close("}");
    }
}

/// The module of functions for one dialect: of the statements that it alone has or, for drivers of which one waits and the
/// other does not, of all that it has.
pub(super) fn module(code: &mut Code, style: &structs::Style, api: &Api<'_>, dialect: Dialect, bodies: &Bodies<'_>) {
    let config = api.config;
    let is_own = |signature: &Signature| match config.generate.driver {
        Driver::Sqlx => signature.dialects == [dialect],
        Driver::Pair => signature.dialects.contains(&dialect),
    };
    let own: Vec<&Function<'_>> = api.functions.iter().filter(|function| is_own(function.signature)).collect();
    let kept = match bodies {
        Bodies::Stubs(kept) if kept.has_functions(dialect) => Some(kept),
        _ => None,
    };
    if own.is_empty() && kept.is_none() {
        return;
    }
    let (doc, name) = match config.generate.driver {
        Driver::Sqlx => (format!("Statements that {} alone has.", dialect.title()), format!("{}_only", dialect.word())),
        Driver::Pair => (format!("The statements of {}.", dialect.title()), dialect.word().to_owned()),
    };
    code.gap();
    code.doc(&doc);
    feature(code, config, dialect);
    line!(code, "{LINTS}");
    code.open(format_args!("{} mod {name} {{", style.seen));
    line!(code, "#[allow(unused_imports)]");
    code.list("use super::{", &nouns(config, &own), "};");
    if config.generate.driver == Driver::Pair && dialect == Dialect::Pg {
        line!(code, "#[allow(unused_imports)]");
        line!(code, "{} use super::diglot_support::pg::{{On, Prepared, Session}};", style.seen);
    }
    for function in own {
        let signature = function.signature;
        code.gap();
        docs(code, signature);
        let (word, connection) = of_module(config, dialect);
        let is_stream = is_stream(config, signature);
        let word = if is_stream { "fn" } else { word };
        let mut arguments = vec![format!("connection: &'a {connection}")];
        let output = match function.one {
            Some(one) => {
                arguments.extend(calls::argument(config, one));
                format!("Result<Vec<{}>, {}>", output_of(config, one), error(config))
            }
            None => {
                arguments.extend(taken(config, signature));
                output(config, signature)
            }
        };
        let open = format!("{} {word} {}<'a>(", style.seen, ident(&signature.name));
        code.list(&open, &arguments, &format!(") -> {output} {{"));
        code.inside(|code| match (bodies, config.generate.driver) {
            (Bodies::Real, Driver::Sqlx) => sqlx::body(code, config, function, dialect, "connection"),
            (Bodies::Real, Driver::Pair) => pair::body(code, config, function, dialect),
            (Bodies::Stubs(_), _) if is_stream => stub(code, config, signature),
            (Bodies::Stubs(_), _) => {
                line!(code, "let _ = connection;");
                unused_params(code, config, signature);
                line!(code, "Err(diglot_support::broken())");
            }
        });
        code.close("}");
    }
    if let Some(kept) = kept {
        kept.functions(code, style, dialect);
    }
    code.close("}");
}

/// How a function of a dialect's module begins, and what it is called on.
pub(super) fn of_module(config: &Config, dialect: Dialect) -> (&'static str, &'static str) {
    match (config.generate.driver, dialect) {
        (Driver::Sqlx, Dialect::Sqlite) => ("async fn", "mut sqlx::SqliteConnection"),
        (Driver::Sqlx, Dialect::Pg) => ("async fn", "mut sqlx::PgConnection"),
        (Driver::Pair, Dialect::Sqlite) => ("fn", "rusqlite::Connection"),
        (Driver::Pair, Dialect::Pg) => ("async fn", "impl Session"),
    }
}

/// The modules of conversions and of structs that these functions name.
fn nouns<'f>(config: &Config, functions: &[&Function<'f>]) -> Vec<Cow<'f, str>> {
    let with_structs = functions.iter().map(|function| function.one.unwrap_or(function.signature));
    let named: BTreeSet<&str> = with_structs
        .filter(|signature| !signature.params.is_empty() || signature.rows.is_some() || !signature.columns.is_empty())
        .map(|signature| signature.noun.as_str())
        .collect();
    let enums =
        super::enums::named(config, functions.iter().map(|function| function.one.unwrap_or(function.signature)));
    let enums = enums.into_iter().map(Cow::Owned);
    let error = (config.generate.driver == Driver::Pair).then(|| Cow::Borrowed(error(config)));
    let conversions = std::iter::once(Cow::Borrowed("diglot_support")).chain(error);
    conversions.chain(named.into_iter().map(ident)).chain(enums).collect()
}

pub(super) fn is_shared(signature: &Signature) -> bool {
    signature.dialects.len() > 1
}

/// The error of every function.
pub(super) fn error(config: &Config) -> &'static str {
    match config.generate.driver {
        Driver::Sqlx => "sqlx::Error",
        Driver::Pair => "StatementError",
    }
}

/// What has the methods of the traits.
fn connections(config: &Config, dialect: Dialect) -> &'static [&'static str] {
    match (config.generate.driver, dialect) {
        (Driver::Sqlx, Dialect::Sqlite) => &["sqlx::SqliteConnection"],
        (Driver::Sqlx, Dialect::Pg) => &["sqlx::PgConnection"],
        (Driver::Pair, Dialect::Sqlite) => &["rusqlite::Connection"],
        (Driver::Pair, Dialect::Pg) => {
            &["tokio_postgres::Client", "tokio_postgres::Transaction<'_>", "diglot_support::pg::On<'_>"]
        }
    }
}

/// Whether a function gives a stream. Of the pair of drivers one has none, so that both hand rows to a closure.
pub(super) fn is_stream(config: &Config, signature: &Signature) -> bool {
    config.generate.driver == Driver::Sqlx && signature.cardinality == Cardinality::Stream
}

fn docs(code: &mut Code, signature: &Signature) {
    if signature.docs.is_empty() {
        code.doc(&format!("The statement `{}`.", signature.name));
    }
    signature.docs.iter().for_each(|line| code.doc(line));
}

/// What a function gives.
fn output(config: &Config, signature: &Signature) -> String {
    match is_stream(config, signature) {
        true => output_of(config, signature),
        false => format!("Result<{}, {}>", output_of(config, signature), error(config)),
    }
}

/// What a function gives when nothing fails.
pub(super) fn output_of(config: &Config, signature: &Signature) -> String {
    let row = rows::path(signature).unwrap_or_else(|| "()".to_owned());
    if let Some(of_list) = signature.rows.as_ref().and_then(|_| list::output(signature.cardinality, &row)) {
        return of_list;
    }
    match signature.cardinality {
        Cardinality::One => row,
        Cardinality::Opt => format!("Option<{row}>"),
        Cardinality::Many => format!("Vec<{row}>"),
        Cardinality::Stream if is_stream(config, signature) => {
            format!("futures_core::stream::BoxStream<'a, Result<{row}, sqlx::Error>>")
        }
        Cardinality::Exec | Cardinality::Stream => "()".to_owned(),
        Cardinality::Rows => "u64".to_owned(),
    }
}

/// Whether a function hands its rows to a closure.
fn is_told(config: &Config, signature: &Signature) -> bool {
    config.generate.driver == Driver::Pair && signature.cardinality == Cardinality::Stream
}

/// What a function takes beside its connection.
fn taken(config: &Config, signature: &Signature) -> impl Iterator<Item = String> {
    let params = params::path(config, signature).map(|path| format!("params: &'a {path}"));
    let told = is_told(config, signature).then(|| {
        let row = rows::path(signature).unwrap_or_else(|| "()".to_owned());
        format!("each: impl FnMut({row}) -> std::ops::ControlFlow<()> + Send + 'a")
    });
    params.into_iter().chain(list::argument(config, signature)).chain(told)
}

/// The names of what it takes.
pub(super) fn given(config: &Config, signature: &Signature) -> String {
    let params = (!signature.params.is_empty()).then_some("params");
    let list = signature.rows.is_some().then_some("list");
    let told = is_told(config, signature).then_some("each");
    params.into_iter().chain(list).chain(told).collect::<Vec<_>>().join(", ")
}

/// The head of a method. The trait declares futures that can be sent, which `async fn` could not promise there.
pub(super) fn method(code: &mut Code, config: &Config, signature: &Signature, is_async: bool, end: &str) {
    let (name, output) = (ident(&signature.name), output(config, signature));
    let mut arguments = vec!["&'a mut self".to_owned()];
    arguments.extend(taken(config, signature));
    let word = if is_async { "async fn" } else { "fn" };
    let close = match is_async || is_stream(config, signature) {
        true => format!(") -> {output}{end}"),
        false => format!(") -> impl std::future::Future<Output = {output}> + Send + 'a{end}"),
    };
    code.list(&format!("{word} {name}<'a>("), &arguments, &close);
}

/// The future of every stub.
pub(super) const BROKEN: &str = "std::future::ready(Err(diglot_support::broken()))";
/// The same as a stream.
pub(super) const BROKEN_STREAM: &str =
    "Box::pin(futures_util::stream::once(std::future::ready(Err(diglot_support::broken()))))";

pub(super) fn stub(code: &mut Code, config: &Config, signature: &Signature) {
    unused_params(code, config, signature);
    line!(code, "{}", if is_stream(config, signature) { BROKEN_STREAM } else { BROKEN });
}

fn unused_params(code: &mut Code, config: &Config, signature: &Signature) {
    let given = given(config, signature);
    given.split(", ").filter(|name| !name.is_empty()).for_each(|name| line!(code, "let _ = {name};"));
}

/// What the body of a function begins with, whichever driver it calls; gives the dialect's texts, and the statement's name in
/// quotes. A function without texts is a list of one call on the connection of that name, which is then all of its body.
pub(super) fn opened<'f>(
    code: &mut Code,
    config: &Config,
    function: &Function<'f>,
    dialect: Dialect,
    connection: &str,
) -> Option<(Vec<&'f EmittedText>, String)> {
    let texts: Vec<&EmittedText> = function.texts.iter().filter(|text| text.dialect == dialect).copied().collect();
    let Some(first) = texts.first() else {
        if let Some(list) = function.list {
            calls::single(code, config, (list, function.signature), connection);
        }
        return None;
    };
    let statement = quoted(&first.noun, &first.name);
    rows::conversion(code, config, dialect, function);
    counts::check(code, config, dialect, function.signature, &statement);
    list::prepare(code, config, dialect, function, &statement);
    Some((texts, statement))
}

/// What a text binds, in the order of its numbers.
pub(super) fn binds(config: &Config, function: &Function<'_>, text: &EmittedText) -> Vec<String> {
    let bind = |used: &TextParam| {
        let param = || function.signature.params.iter().find(|param| param.name == used.name);
        list::bind(config, text.dialect, function, used)
            .or_else(|| Some(params::bind(config, text.dialect, used.digits, ("params", param()?))))
    };
    text.params.iter().filter_map(bind).collect()
}

/// The text of the only variant, or the choice between variants by the parameters that are given. `of_text` writes a
/// text between what stands before it and behind it.
pub(super) fn chosen(
    code: &mut Code,
    signature: &Signature,
    texts: &[&EmittedText],
    open: &str,
    end: &str,
    of_text: impl Fn(&mut Code, &EmittedText, &str, &str),
) {
    let mut optional: Vec<(&str, Chooser)> = Vec::new();
    for param in signature.params.iter().filter(|param| param.optional) {
        let (field, part) = match param.of_key() {
            Some((key, _)) => (key, Chooser::Page(key.to_owned())),
            None => (param.name.as_str(), Chooser::Parameter(param.name.clone())),
        };
        if optional.iter().all(|(known, _)| *known != field) {
            optional.push((field, part));
        }
    }
    let choice = signature.params.iter().find(|param| param.is_choice());
    if let ([], [text, ..], None) = (optional.as_slice(), texts, choice) {
        of_text(code, text, open, end);
        return;
    }
    let chooses = choice.iter().map(|param| param.name.as_str());
    let fields = optional.iter().map(|(field, _)| *field).chain(chooses).map(|name| format!("&params.{}", ident(name)));
    code.open(format_args!("{open}match {} {{", tuple(fields.collect())));
    for text in texts {
        let pattern = |(field, part): &(&str, Chooser)| match text.variant.given.contains(part) {
            true => format!("Some({})", params::given(field)),
            false => "None".to_owned(),
        };
        let patterns = optional.iter().map(pattern).chain(enums::order_of(signature, text));
        let patterns = tuple(patterns.collect());
        of_text(code, text, &format!("{patterns} => "), ",");
    }
    code.close(&format!("}}{end}"));
}

/// The name of a statement in quotes, as errors have it.
pub(super) fn quoted(noun: &str, name: &str) -> String {
    format!("{:?}", format!("{noun}.{name}"))
}

/// A tuple of any length.
pub(super) fn tuple(items: Vec<String>) -> String {
    match items.as_slice() {
        [only] => format!("({only},)"),
        _ => format!("({})", items.join(", ")),
    }
}
