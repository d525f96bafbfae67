//! No macro of the engine runs a statement.

use super::{Complaint, Rust, after_block, rules_hit};

/// Macros that run a statement: what a statement takes is a value, and functions run it.
pub(crate) fn found(_: &str, rust: &Rust) -> Vec<Complaint> {
    let mut runs =
        rust.lines_with(&["unit!(", "read!(", "survey!("], "runs a statement; a function takes it as a value");
    for (at, _) in rust.code.match_indices("macro_rules!") {
        let body = &rust.code[at..rust.code.len() - after_block(&rust.code[at..]).len()];
        if [".db()", ".await"].iter().any(|word| body.contains(word)) {
            let line = rust.code[..at].matches('\n').count() + 1;
            runs.push((line, "a macro runs a statement; write a function that takes it as a value".into()));
        }
    }
    runs
}

#[test]
fn a_macro_that_runs_a_statement_is_found_in_the_engine() {
    for planted in [
        "let row = unit!(engine, lease::LeaseClaimParams { now_ms })?;",
        "macro_rules! due {\n    ($e:expr, $p:expr) => {{\n        $e.db().read($p).await?\n    }};\n}",
    ] {
        assert_eq!(rules_hit("src/engine/lease.rs", planted), ["statement-macro"], "{planted}");
        assert_eq!(rules_hit("src/db/call.rs", planted), [""; 0], "{planted}");
    }
    for innocent in [
        "macro_rules! fenced {\n    ($p:ident) => { $p { now_ms: 1 } };\n}\nfn f() { e.db().read(p).await }",
        "json!({})",
    ] {
        assert_eq!(rules_hit("src/engine/lease.rs", innocent), [""; 0], "{innocent}");
    }
}
