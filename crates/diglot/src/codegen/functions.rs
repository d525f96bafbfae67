//! The trait, its implementations, and the functions of statements that one dialect alone has.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::code::{Code, line};
use super::stubs::Stubs;
use super::{Api, Function, LINTS, calls, counts, enums, feature, list, params, rows, structs};
use crate::config::{Config, Traits};
use crate::dialect::Dialect;
use crate::emitted::{EmittedText, JoinedText, TextParam};
use crate::infer::Signature;
use crate::names::{camel, doc_line, ident};
use crate::page::{Cardinality, Chooser};

/// What stands in the functions.
pub(super) enum Bodies<'a> {
    /// Calls of the driver.
    Real,
    /// Errors at once; statements without a signature keep what an earlier run knew of them.
    Stubs(&'a Stubs),
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

/// One connection's implementations of the traits.
pub(super) fn implementation(code: &mut Code, api: &Api<'_>, dialect: Dialect, bodies: &Bodies<'_>) {
    for (name, noun) in traits(api, bodies) {
        code.gap();
        feature(code, api.config, dialect);
        line!(code, "{LINTS}");
        code.open(format_args!("impl {name} for {} {{", connection(dialect)));
        for function in of_trait(api, noun.as_deref()) {
            let signature = function.signature;
            code.gap();
            let is_async = matches!(bodies, Bodies::Real) && signature.cardinality != Cardinality::Stream;
            method(code, api.config, signature, is_async, " {");
            code.inside(|code| match bodies {
                Bodies::Real => body(code, api.config, function, dialect, "self"),
                Bodies::Stubs(_) => stub(code, signature),
            });
            code.close("}");
        }
        if let Bodies::Stubs(kept) = bodies {
            kept.definitions(code, noun.as_deref());
        }
        code.close("}");
    }
}

/// The module of statements that a dialect alone has.
pub(super) fn single(code: &mut Code, style: &structs::Style, api: &Api<'_>, dialect: Dialect, bodies: &Bodies<'_>) {
    let own: Vec<&Function<'_>> =
        api.functions.iter().filter(|function| function.signature.dialects == [dialect]).collect();
    let kept = match bodies {
        Bodies::Stubs(kept) if kept.has_single(dialect) => Some(kept),
        _ => None,
    };
    if own.is_empty() && kept.is_none() {
        return;
    }
    code.gap();
    code.doc(&format!("Statements that {} alone has.", dialect.title()));
    feature(code, api.config, dialect);
    line!(code, "{LINTS}");
    code.open(format_args!("{} mod {}_only {{", style.seen, dialect.word()));
    line!(code, "#[allow(unused_imports)]");
    code.list("use super::{", &nouns(api.config, &own), "};");
    for function in own {
        let (config, signature) = (api.config, function.signature);
        code.gap();
        docs(code, signature);
        let is_stream = signature.cardinality == Cardinality::Stream;
        let word = if is_stream { "fn" } else { "async fn" };
        let mut arguments = vec![format!("connection: &'a mut {}", connection(dialect))];
        let (list, output) = match function.one {
            Some(one) => (calls::argument(config, one), format!("Result<{}, sqlx::Error>", calls::output(one))),
            None => (None, output(signature)),
        };
        arguments.extend(taken(config, signature).filter(|_| list.is_none()));
        arguments.extend(list);
        let open = format!("{} {word} {}<'a>(", style.seen, ident(&signature.name));
        code.list(&open, &arguments, &format!(") -> {output} {{"));
        code.inside(|code| match bodies {
            Bodies::Real => body(code, config, function, dialect, "connection"),
            Bodies::Stubs(_) if is_stream => stub(code, signature),
            Bodies::Stubs(_) => {
                line!(code, "let _ = connection;");
                unused_params(code, signature);
                line!(code, "{BROKEN}.await");
            }
        });
        code.close("}");
    }
    if let Some(kept) = kept {
        kept.single(code, dialect);
    }
    code.close("}");
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
    let conversions = std::iter::once(Cow::Borrowed("diglot_support"));
    conversions.chain(named.into_iter().map(ident)).chain(enums).collect()
}

pub(super) fn is_shared(signature: &Signature) -> bool {
    signature.dialects.len() > 1
}

fn connection(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "sqlx::SqliteConnection",
        Dialect::Pg => "sqlx::PgConnection",
    }
}

fn docs(code: &mut Code, signature: &Signature) {
    if signature.docs.is_empty() {
        code.doc(&format!("The statement `{}`.", signature.name));
    }
    signature.docs.iter().for_each(|line| code.doc(line));
}

/// What a function gives.
fn output(signature: &Signature) -> String {
    match signature.cardinality {
        Cardinality::Stream => output_of(signature),
        _ => format!("Result<{}, sqlx::Error>", output_of(signature)),
    }
}

/// What a function gives when nothing fails.
pub(super) fn output_of(signature: &Signature) -> String {
    let row = rows::path(signature).unwrap_or_else(|| "()".to_owned());
    if let Some(of_list) = signature.rows.as_ref().and_then(|_| list::output(signature.cardinality, &row)) {
        return of_list;
    }
    match signature.cardinality {
        Cardinality::One => row,
        Cardinality::Opt => format!("Option<{row}>"),
        Cardinality::Many => format!("Vec<{row}>"),
        Cardinality::Exec => "()".to_owned(),
        Cardinality::Rows => "u64".to_owned(),
        Cardinality::Stream => format!("futures_core::stream::BoxStream<'a, Result<{row}, sqlx::Error>>"),
    }
}

/// What a function takes beside its connection.
fn taken(config: &Config, signature: &Signature) -> impl Iterator<Item = String> {
    let params = params::path(config, signature).map(|path| format!("params: &'a {path}"));
    params.into_iter().chain(list::argument(config, signature))
}

/// The head of a method. The trait declares futures that can be sent, which `async fn` could not promise there.
pub(super) fn method(code: &mut Code, config: &Config, signature: &Signature, is_async: bool, end: &str) {
    let (name, output) = (ident(&signature.name), output(signature));
    let mut arguments = vec!["&'a mut self".to_owned()];
    arguments.extend(taken(config, signature));
    let word = if is_async { "async fn" } else { "fn" };
    let close = match is_async || signature.cardinality == Cardinality::Stream {
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

pub(super) fn stub(code: &mut Code, signature: &Signature) {
    unused_params(code, signature);
    line!(code, "{}", if signature.cardinality == Cardinality::Stream { BROKEN_STREAM } else { BROKEN });
}

fn unused_params(code: &mut Code, signature: &Signature) {
    if !signature.params.is_empty() {
        line!(code, "let _ = params;");
    }
    if signature.rows.is_some() {
        line!(code, "let _ = list;");
    }
}

/// The body of a function on a connection of that name.
fn body(code: &mut Code, config: &Config, function: &Function<'_>, dialect: Dialect, connection: &str) {
    let signature = function.signature;
    let texts: Vec<&EmittedText> = function.texts.iter().filter(|text| text.dialect == dialect).copied().collect();
    let Some(first) = texts.first() else {
        if let Some(list) = function.list {
            calls::single(code, list, signature, connection);
        }
        return;
    };
    let statement = format!("{:?}", format!("{}.{}", first.noun, first.name));
    rows::conversion(code, config, dialect, function);
    counts::check(code, config, dialect, signature, &statement);
    list::prepare(code, config, dialect, function, &statement);
    let call = Call { config, function, connection };
    let all = |code: &mut Code| {
        chosen(code, signature, &texts, "let rows = ", ";", |code, text, open, end| call.all(code, text, open, end));
    };
    let few = |code: &mut Code| {
        chosen(code, signature, &texts, "let rows = ", ";", |code, text, open, end| call.few(code, text, open, end));
    };
    match signature.cardinality {
        Cardinality::One | Cardinality::Opt | Cardinality::Many if signature.rows.is_some() => {
            all(code);
            list::answers(code, config, dialect, function, &statement);
        }
        Cardinality::One => {
            few(code);
            line!(code, "row(diglot_support::exactly_one({statement}, rows)?)");
        }
        Cardinality::Opt => {
            few(code);
            line!(code, "diglot_support::at_most_one({statement}, rows)?.map(row).transpose()");
        }
        Cardinality::Many => {
            all(code);
            line!(code, "rows.into_iter().map(row).collect()");
        }
        Cardinality::Exec => {
            chosen(code, signature, &texts, "", ";", |code, text, open, end| call.done(code, text, open, end));
            line!(code, "Ok(())");
        }
        Cardinality::Rows => {
            chosen(code, signature, &texts, "let done = ", ";", |code, text, open, end| {
                call.done(code, text, open, end);
            });
            line!(code, "Ok(done.rows_affected())");
        }
        Cardinality::Stream => {
            chosen(code, signature, &texts, "", "", |code, text, open, end| call.stream(code, text, open, end));
        }
    }
}

/// How the texts of a function are handed to the driver.
struct Call<'a> {
    config: &'a Config,
    function: &'a Function<'a>,
    connection: &'a str,
}

impl Call<'_> {
    /// At most two rows are read where one is wanted: a row too many is an error rather than a silent choice. Of a unit all
    /// are, since its later statements run only when they are asked for.
    fn few(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        if text.parts.len() > 1 {
            self.all(code, text, open, end);
            return;
        }
        code.open(format_args!("{open}{{"));
        self.query(code, text, "let mut found = ", true);
        line!(code, ".fetch(&mut *{});", self.connection);
        line!(code, "diglot_support::first_two(|task| found.as_mut().poll_next(task))");
        code.indented(|code| {
            line!(code, ".await");
            self.rows(code, "");
        });
        code.close(&format!("}}{end}"));
    }

    /// All rows.
    fn all(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        if let Some(joined) = &text.joined {
            self.joined(code, text, joined, (open, end));
            return;
        }
        self.query(code, text, open, true);
        line!(code, ".fetch_all(&mut *{})", self.connection);
        line!(code, ".await");
        guarded(code, text);
        self.rows(code, end);
    }

    /// Makes records of what the driver gave.
    fn rows(&self, code: &mut Code, end: &str) {
        if self.config.generate.queries.is_macro() {
            self.named(code, ".map_err(", &format!(")?{end}"));
            return;
        }
        self.named(code, ".map_err(", ")?");
        line!(code, ".iter()");
        line!(code, ".map(record)");
        line!(code, ".collect::<Result<Vec<_>, _>>()?{end}");
    }

    fn done(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        self.query(code, text, open, false);
        line!(code, ".execute(&mut *{})", self.connection);
        if text.guarded {
            line!(code, ".await");
            guarded(code, text);
            line!(code, "?{end}");
        } else {
            line!(code, ".await?{end}");
        }
    }

    fn stream(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        // The arm of a variant is a block.
        let is_arm = !open.is_empty();
        if is_arm {
            code.open(format_args!("{open}{{"));
        }
        self.query(code, text, "let records = ", true);
        line!(code, ".fetch(&mut *{});", self.connection);
        let read = match self.config.generate.queries.is_macro() {
            false => ("|found| {", "row(record(&found.map_err(", ")?)?)"),
            true => ("|record| {", "row(record.map_err(", ")?)"),
        };
        code.open(format_args!("Box::pin(futures_util::StreamExt::map(records, {}", read.0));
        self.named(code, read.1, read.2);
        code.close("}))");
        if is_arm {
            code.close(&format!("}}{end}"));
        }
    }

    /// Rows that are joined from what the statements of the unit return.
    fn joined(&self, code: &mut Code, text: &EmittedText, joined: &JoinedText, (open, end): (&str, &str)) {
        code.open(format_args!("{open}{{"));
        self.plain_query(code, text, "let query = ", ";");
        let all = format!("let returned = diglot_support::returned({}, query, {})", self.connection, text.parts.len());
        line!(code, "{all}");
        line!(code, ".await");
        guarded(code, text);
        line!(code, "?;");
        let sources: Vec<String> = joined.sources.iter().map(|(at, optional)| format!("({at}, {optional})")).collect();
        code.list("let joined = diglot_support::joined(&returned, &[", &sources, "]);");
        let head = "fn of_parts(row: &[Option<&sqlx::sqlite::SqliteRow>]) -> Result<Record, sqlx::Error>";
        code.open(format_args!("{head} {{"));
        code.open(format_args!("Ok(Record {{"));
        for (column, (source, place)) in self.function.signature.columns.iter().zip(&joined.columns) {
            line!(code, "{}: diglot_support::value(row[{source}], {place})?,", ident(&column.name));
        }
        code.close("})");
        code.close("}");
        line!(code, "joined.iter().map(|row| of_parts(row)).collect::<Result<Vec<_>, _>>()");
        self.named(code, ".map_err(", ")?");
        code.close(&format!("}}{end}"));
    }

    /// What puts the names of columns into errors.
    fn named(&self, code: &mut Code, open: &str, end: &str) {
        let columns: Vec<String> =
            self.function.signature.columns.iter().map(|column| format!("{:?}", column.name)).collect();
        code.list(&format!("{open}|error| diglot_support::named(error, &["), &columns, &format!("]){end}"));
    }

    /// What the text binds, in the order of its numbers.
    fn binds(&self, text: &EmittedText) -> Vec<String> {
        let (config, signature) = (self.config, self.function.signature);
        let bind = |used: &TextParam| {
            let param = || signature.params.iter().find(|param| param.name == used.name);
            list::bind(config, text.dialect, self.function, used)
                .or_else(|| Some(params::bind(config, text.dialect, used.digits, ("params", param()?))))
        };
        let spare = std::iter::repeat_n("None::<i64>".to_owned(), text.spare);
        text.params.iter().filter_map(bind).chain(spare).collect()
    }

    /// The text with what it binds.
    fn query(&self, code: &mut Code, text: &EmittedText, open: &str, rows: bool) {
        if !self.config.generate.queries.is_macro() {
            self.plain_query(code, text, open, "");
            return;
        }
        let row = rows.then(|| "Record".to_owned());
        let sql = format!("{:?}", text.sql);
        let items: Vec<String> = row.into_iter().chain([sql]).chain(self.binds(text)).collect();
        let name = if rows { "query_as" } else { "query" };
        code.lines(&format!("{open}sqlx::{name}!("), &items, "", ")");
    }

    /// The same without a macro.
    fn plain_query(&self, code: &mut Code, text: &EmittedText, open: &str, end: &str) {
        code.lines(&format!("{open}sqlx::query("), &[format!("{:?}", text.sql)], ",", ")");
        self.binds(text).iter().for_each(|bind| line!(code, ".bind({bind})"));
        if !end.is_empty() {
            line!(code, "{end}");
        }
    }
}

/// A unit whose guard has no row did nothing and gives nothing.
fn guarded(code: &mut Code, text: &EmittedText) {
    if text.guarded {
        line!(code, ".or_else(diglot_support::unless_required)");
    }
}

/// The text of the only variant, or the choice between variants by the parameters that are given. `of_text` writes a
/// text between what stands before it and behind it.
fn chosen(
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

/// A tuple of any length.
pub(super) fn tuple(items: Vec<String>) -> String {
    match items.as_slice() {
        [only] => format!("({only},)"),
        _ => format!("({})", items.join(", ")),
    }
}
