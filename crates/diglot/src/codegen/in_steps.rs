//! A connection to a database whose tables are spread over nodes: statements that take steps do so on it.

use super::code::{Code, line};
use super::functions::{self, Bodies, is_shared, method, of_trait, stub, traits};
use super::{Api, Function, LINTS, feature, rows, sqlx, structs};
use crate::dialect::Dialect;
use crate::emitted::{Holds, JoinedText, RowsOf, StepText, StepsGive, StepsText};
use crate::names::ident;
use crate::page::Cardinality;

/// The module `in_steps`, where the tables of Postgres are spread.
pub(super) fn module(code: &mut Code, style: &structs::Style, api: &Api<'_>, bodies: &Bodies<'_>) {
    if api.config.distributed.is_none() {
        return;
    }
    code.gap();
    code.doc("Where the tables of Postgres are spread over several nodes.");
    feature(code, api.config, Dialect::Pg);
    line!(code, "{LINTS}");
    code.open(format_args!("{} mod in_steps {{", style.seen));
    code.block(&TEXT.replace("pub ", &format!("{} ", style.seen)));
    code.close("}");
    for (name, noun) in traits(api, bodies) {
        code.gap();
        feature(code, api.config, Dialect::Pg);
        line!(code, "{LINTS}");
        code.open(format_args!("impl {name} for in_steps::Connection<'_> {{"));
        for function in of_trait(api, noun.as_deref()).filter(|function| is_shared(function.signature)) {
            let signature = function.signature;
            let is_stream = signature.cardinality == Cardinality::Stream;
            code.gap();
            method(code, api.config, signature, matches!(bodies, Bodies::Real) && !is_stream, " {");
            code.inside(|code| match bodies {
                Bodies::Stubs(_) => stub(code, api.config, signature),
                Bodies::Real if takes_steps(function) => body(code, api, function),
                Bodies::Real => {
                    let end = if is_stream { "" } else { ".await" };
                    let given = functions::given(api.config, signature);
                    line!(code, "self.connection().{}({given}){end}", ident(&signature.name));
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

/// Whether a statement is several where the tables are spread.
pub(super) fn takes_steps(function: &Function<'_>) -> bool {
    function.texts.iter().any(|text| text.steps.is_some())
}

/// The body of a statement that takes steps.
fn body(code: &mut Code, api: &Api<'_>, function: &Function<'_>) {
    let (config, signature) = (api.config, function.signature);
    let Some((texts, statement)) = functions::opened(code, config, function, Dialect::Pg, "self") else { return };
    let is_counted = signature.cardinality == Cardinality::Rows;
    let open = match signature.cardinality {
        Cardinality::Exec => "",
        _ if is_counted => "let count = ",
        _ => "let rows = ",
    };
    functions::chosen(code, signature, &texts, open, ";", |code, text, open, end| {
        code.open(format_args!("{open}{{"));
        if let Some(steps) = &text.steps {
            of_text(code, api, function, steps);
        }
        code.close(&format!("}}{end}"));
    });
    match signature.cardinality {
        Cardinality::One => line!(code, "row(diglot_support::exactly_one({statement}, rows)?)"),
        Cardinality::Opt => line!(code, "diglot_support::at_most_one({statement}, rows)?.map(row).transpose()"),
        Cardinality::Many => line!(code, "rows.into_iter().map(row).collect()"),
        Cardinality::Rows => line!(code, "Ok(count)"),
        Cardinality::Exec | Cardinality::Stream => line!(code, "Ok(())"),
    }
}

fn of_text(code: &mut Code, api: &Api<'_>, function: &Function<'_>, steps: &StepsText) {
    for (at, step) in steps.steps.iter().enumerate() {
        let is_counted = steps.gives == StepsGive::Count(at);
        let end = match is_counted {
            true => format!("count_{at} += query.execute(self.connection()).await?.rows_affected();"),
            false => format!("step_{at}.extend(query.fetch_all(self.connection()).await?);"),
        };
        match is_counted {
            true => line!(code, "let mut count_{at} = 0;"),
            false => line!(code, "let mut step_{at} = Vec::new();"),
        }
        match step.each {
            None => query(code, api, function, step, &end),
            Some(each) => {
                let carries = step.text.params.iter().any(|param| matches!(param.holds, Holds::Carried(_)));
                let from = if carries { "from" } else { "_" };
                code.open(format_args!("for {from} in {} {{", rows_of(each)));
                query(code, api, function, step, &end);
                code.close("}");
            }
        }
    }
    match &steps.gives {
        StepsGive::Nothing => {}
        StepsGive::Count(step) => line!(code, "count_{step}"),
        StepsGive::CountOf(rows) => line!(code, "{}.len() as u64", rows_of(*rows)),
        StepsGive::Rows { sources, columns } => {
            let rows: Vec<(String, bool)> =
                sources.iter().map(|(rows, optional)| (rows_of(*rows), *optional)).collect();
            let columns = JoinedText::of_steps(sources, columns).columns;
            rows::of_parts(code, api.config, function.signature, &rows, &columns, "sqlx::postgres::PgRow");
            line!(code, "joined.iter().map(|row| of_parts(row)).collect::<Result<Vec<_>, _>>()");
            sqlx::named(code, function.signature, ".map_err(", ")?");
        }
    }
}

/// The rows that a step gave.
fn rows_of(rows: RowsOf) -> String {
    match rows.among {
        Some((number, is_there)) => format!("diglot_support::among(&step_{}, {number}, {is_there})?", rows.step),
        None => format!("step_{}.iter().collect::<Vec<_>>()", rows.step),
    }
}

/// A step's text with what it binds.
fn query(code: &mut Code, api: &Api<'_>, function: &Function<'_>, step: &StepText, end: &str) {
    code.lines("let query = sqlx::query(", &[format!("{:?}", step.text.sql)], ",", ")");
    for param in &step.text.params {
        let bind = match &param.holds {
            Holds::Carried(place) => format!("diglot_support::carried(from, {place})?"),
            Holds::Handed(rows, place) => format!("diglot_support::handed(&{}, {place})?", rows_of(*rows)),
            Holds::Value | Holds::Field(_) | Holds::Rows(_) => {
                let known = function.signature.params.iter().find(|known| known.name == param.name);
                let Some(known) = known else { continue };
                let bind = super::params::bind(api.config, Dialect::Pg, param.digits, ("params", known));
                // Macros alone are told to take any type.
                bind.strip_suffix(" as _").map_or(bind.clone(), str::to_owned)
            }
        };
        line!(code, ".bind({bind})");
    }
    line!(code, ";");
    line!(code, "{end}");
}

const TEXT: &str = include_str!("support/in_steps.in");

/// What carries values from one step to the next.
pub(super) const CARRIED: &str = include_str!("support/carried.in");
