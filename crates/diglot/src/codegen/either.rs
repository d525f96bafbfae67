//! One value for both databases: connections, pools and transactions whose database is known at run time alone.

use super::code::{Code, line};
use super::functions::{Bodies, given, is_stream, method, of_trait, stub, traits};
use super::{Api, LINTS, feature, structs};
use crate::config::{Config, Driver};
use crate::dialect::Dialect;
use crate::names::ident;

/// The module `either`, if the settings ask for it.
pub(super) fn module(code: &mut Code, style: &structs::Style, api: &Api<'_>, bodies: &Bodies<'_>) {
    if !api.config.generate.either {
        return;
    }
    code.gap();
    code.doc("One value for both databases, where a URL decides at run time.");
    any_feature(code, api.config);
    line!(code, "{LINTS}");
    code.open(format_args!("{} mod either {{", style.seen));
    let (text, types) = match api.config.generate.driver {
        Driver::Sqlx => (include_str!("support/either.in"), &["Connection"][..]),
        Driver::Pair => (include_str!("support/either_pair.in"), &["Connection", "Transaction"][..]),
    };
    code.block(&gated(api.config, &text.replace("pub ", &format!("{} ", style.seen))));
    code.close("}");
    let traits = traits(api, bodies);
    for (ty, (name, noun)) in types.iter().flat_map(|ty| traits.iter().map(move |of| (ty, of))) {
        code.gap();
        any_feature(code, api.config);
        line!(code, "{LINTS}");
        code.open(format_args!("impl {name} for either::{ty}<'_> {{"));
        for function in of_trait(api, noun.as_deref()) {
            let signature = function.signature;
            let is_stream = is_stream(api.config, signature);
            code.gap();
            method(code, api.config, signature, matches!(bodies, Bodies::Real) && !is_stream, " {");
            code.inside(|code| match bodies {
                Bodies::Stubs(_) => stub(code, api.config, signature),
                Bodies::Real => {
                    let given = given(api.config, signature);
                    let end = if is_stream { "" } else { ".await" };
                    code.open(format_args!("match self {{"));
                    for dialect in Dialect::ALL {
                        feature(code, api.config, dialect);
                        let call = format!("connection.{}({given}){end}", ident(&signature.name));
                        line!(code, "Self::{}(connection) => {call},", dialect.variant());
                    }
                    code.close("}");
                }
            });
            code.close("}");
        }
        if let Bodies::Stubs(kept) = bodies {
            kept.definitions(code, noun.as_deref());
        }
        code.close("}");
    }
}

/// The attribute that leaves an item out where neither database is there.
pub(super) fn any_feature(code: &mut Code, config: &Config) {
    if let (Some(sqlite), Some(pg)) = (&config.sqlite_feature, &config.pg_feature) {
        line!(code, "#[cfg(any(feature = {sqlite:?}, feature = {pg:?}))]");
    }
}

/// The text with the attribute of a dialect in the place of `#[sqlite]` and `#[pg]`, and with that of its absence in the
/// place of `#[not_sqlite]` and `#[not_pg]`. What stands in the line behind these is not there where no feature is.
pub(super) fn gated(config: &Config, text: &str) -> String {
    let mut lines = Vec::new();
    let mut text = text.lines();
    while let Some(line) = text.next() {
        let (at, gate) = (line.len() - line.trim_start().len(), line.trim_start());
        let (feature, is_there) = match gate {
            "#[sqlite]" => (&config.sqlite_feature, true),
            "#[pg]" => (&config.pg_feature, true),
            "#[not_sqlite]" => (&config.sqlite_feature, false),
            "#[not_pg]" => (&config.pg_feature, false),
            _ => {
                lines.push(line.to_owned());
                continue;
            }
        };
        match feature {
            Some(feature) if is_there => lines.push(format!("{}#[cfg(feature = {feature:?})]", &line[..at])),
            Some(feature) => lines.push(format!("{}#[cfg(not(feature = {feature:?}))]", &line[..at])),
            None if is_there => {}
            None => drop(text.next()),
        }
    }
    lines.join("\n")
}
