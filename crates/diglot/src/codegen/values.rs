//! Statements as values: what each takes knows its name, what it gives and how it is run.

use std::borrow::Cow;

use super::code::{Code, line};
use super::functions::{Bodies, error, is_shared, output_of, traits};
use super::{Api, LINTS, params, structs};
use crate::config::{Config, Traits};
use crate::infer::Signature;
use crate::names::{camel, ident};
use crate::page::Cardinality;

/// Whether a statement is a value. A stream borrows its connection for as long as it is read, and a list of rows is no
/// part of the parameters: both stay methods.
pub(super) fn is_value(signature: &Signature) -> bool {
    is_shared(signature) && may_be(signature)
}

/// Whether it is one where both databases have it.
pub(super) fn may_be(signature: &Signature) -> bool {
    signature.cardinality != Cardinality::Stream && signature.rows.is_none()
}

/// The struct of a statement that takes nothing.
pub(super) fn of_nothing(code: &mut Code, style: &structs::Style, signature: &Signature) {
    if signature.params.is_empty() && is_value(signature) {
        code.gap();
        code.doc(&format!("`{}` as a value; it takes nothing.", signature.name));
        line!(code, "#[derive({})]", style.derives());
        line!(code, "{} struct {}Params;", style.seen, camel(&signature.name));
    }
}

/// The trait, and its implementations for what the statements take.
pub(super) fn definitions(code: &mut Code, style: &structs::Style, api: &Api<'_>, bodies: &Bodies<'_>) {
    all_of_them(code, style, api, bodies);
    code.gap();
    let takes = if api.config.distributed.is_some() { TAKES_STEPS } else { "" };
    let text = TRAIT.replace("    // steps\n", takes).replace("sqlx::Error", error(api.config));
    code.block(&text.replace("pub trait", &format!("{LINTS}\n{} trait", style.seen)));
    for function in api.functions.iter().filter(|function| is_value(function.signature)) {
        let (signature, takes_steps) = (function.signature, super::in_steps::takes_steps(function));
        let own = || format!("{}::{}Params", ident(&signature.noun), camel(&signature.name));
        let (path, params) = match params::path(api.config, signature) {
            Some(path) => (Cow::Owned(path.replace("<'a>", "<'_>")), "self"),
            None => (Cow::Owned(own()), ""),
        };
        let name = (signature.name.as_str(), takes_steps);
        implementation(code, api.config, (&path, name), &output_of(api.config, signature), params);
    }
    if let Bodies::Stubs(kept) = bodies {
        for (name, path, output) in kept.values() {
            implementation(code, api.config, (&path, (&name, false)), &output, "self");
        }
    }
}

/// One trait above those of the nouns, where each noun has its own.
fn all_of_them(code: &mut Code, style: &structs::Style, api: &Api<'_>, bodies: &Bodies<'_>) {
    if api.config.generate.traits == Traits::One {
        return;
    }
    let names: Vec<String> = traits(api, bodies).into_iter().map(|(name, _)| name).collect();
    let bounds = if names.is_empty() { "Send".to_owned() } else { names.join(" + ") };
    code.gap();
    code.doc("All statements that both databases have.");
    line!(code, "{LINTS}");
    line!(code, "{} trait Statements: {bounds} {{}}", style.seen);
    code.gap();
    line!(code, "impl<T: {bounds} + ?Sized> Statements for T {{}}");
}

fn implementation(
    code: &mut Code,
    config: &Config,
    (path, (name, takes_steps)): (&str, (&str, bool)),
    output: &str,
    params: &str,
) {
    code.gap();
    line!(code, "{LINTS}");
    code.open(format_args!("impl Statement for {path} {{"));
    line!(code, "type Output = {output};");
    line!(code, "const NAME: &'static str = {name:?};");
    if takes_steps {
        line!(code, "const TAKES_STEPS: bool = true;");
    }
    code.gap();
    code.list(
        "fn run<'a, S: Statements + ?Sized>(",
        &["&'a self", "on: &'a mut S"],
        &format!(") -> impl std::future::Future<Output = Result<Self::Output, {}>> + Send + 'a {{", error(config)),
    );
    code.inside(|code| line!(code, "on.{}({params})", ident(name)));
    code.close("}");
    code.close("}");
}

const TRAIT: &str = "/// A statement as a value: what it takes, with its name, what it gives and how it is run.
pub trait Statement: Send + Sync {
    /// What it gives.
    type Output: Send;
    /// Its name.
    const NAME: &'static str;
    // steps

    /// Runs it: one call to the database.
    fn run<'a, S: Statements + ?Sized>(
        &'a self,
        on: &'a mut S,
    ) -> impl std::future::Future<Output = Result<Self::Output, sqlx::Error>> + Send + 'a;
}";

const TAKES_STEPS: &str =
    "    /// Whether it is several calls on [`in_steps::Connection`], which belong into one transaction.
    const TAKES_STEPS: bool = false;
";
