//! Every generated signature and every emitted text, so that a change of either is seen in review.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn signatures_and_texts_are_as_reviewed() {
    let inputs = diglot::build::load(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("the project is readable");
    let compiled = diglot::compile(&inputs);
    let findings: Vec<&str> = compiled.diagnostics.iter().map(|finding| finding.message.as_str()).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    let mut pages: BTreeMap<&str, String> = BTreeMap::new();
    for signature in &compiled.signatures {
        let page = pages.entry(&signature.noun).or_default();
        writeln!(page, "{signature}").expect("a String takes everything");
        let texts = compiled.texts.iter().filter(|text| text.name == signature.name);
        for text in texts.flat_map(diglot::EmittedText::all) {
            writeln!(page, "    {}", text.sql).expect("a String takes everything");
        }
        page.push('\n');
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/statements");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (noun, page) in pages {
        settings.bind(|| insta::assert_snapshot!(noun, page));
    }
}
