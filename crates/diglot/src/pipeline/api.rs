//! What a run gives in Rust.

use std::collections::BTreeMap;

use super::schemas::settled_schemas;
use super::{Compiled, EmittedText, Inputs};
use crate::config::Tables;
use crate::diagnostic::{Diagnostic, Severity};
use crate::rule;
use crate::{baseline, codegen, infer, render};

/// What a project gets that wants no API.
const NOTHING: &str = "// Nothing is generated: diglot.toml says `generate = false`.\n";

/// The API, or the errors with what stands in for it.
pub(super) fn rust(inputs: &Inputs, compiled: &Compiled, broken: &[codegen::Unknown]) -> String {
    if !inputs.config.generate.enabled && !compiled.has_errors() {
        return NOTHING.to_owned();
    }
    let mut texts: BTreeMap<&str, Vec<&EmittedText>> = BTreeMap::new();
    for text in &compiled.texts {
        texts.entry(&text.name).or_default().push(text);
    }
    let signatures = codegen::completed(compiled.signatures.clone());
    let functions = signatures.iter().map(|signature| {
        codegen::Function::new(signature, texts.get(signature.name.as_str()).cloned().unwrap_or_default())
    });
    let tables = match inputs.config.generate.tables {
        Tables::None => Vec::new(),
        // What is found in the schemas was told by the run.
        Tables::SeaQuery => infer::tables::shared(&inputs.config, &settled_schemas(inputs, &mut Vec::new()).0),
    };
    let api = codegen::Api::new(&inputs.config, functions.collect(), tables);
    if !compiled.has_errors() {
        return codegen::generate(&api);
    }
    let is_error = |finding: &&Diagnostic| finding.severity == Severity::Error;
    let errors: Vec<Diagnostic> = compiled.diagnostics.iter().filter(is_error).cloned().collect();
    let count = errors.len();
    let many = if count == 1 { "" } else { "s" };
    let findings = render::all(&inputs.sources, &errors, render::Look::Plain);
    let known = match compiled.known.len() {
        0 => String::new(),
        known => format!("\n{}\n", baseline::folded(known)),
    };
    let message = format!("diglot: {count} finding{many} in the SQL of this crate\n\n{findings}{known}");
    if !inputs.config.generate.enabled {
        return codegen::behind_error(&message, "");
    }
    if let (Some(previous), true) =
        (&inputs.previous, errors.iter().any(|finding| finding.rule == rule::BAD_CONFIG.name))
    {
        return codegen::behind_error(&message, previous);
    }
    codegen::generate_broken(api, &message, broken, inputs.previous.as_deref())
}
