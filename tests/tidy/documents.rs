//! What a machine can check of the documents: links lead somewhere, the map is short, and pages keep their form.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A document: its path from the root, and its text.
struct Document {
    path: String,
    text: String,
}

/// What stands at a line of a document, or of the whole where the line is 0.
fn complaint(document: &Document, line: usize, what: impl std::fmt::Display) -> String {
    format!("{}:{line}: [document] {what}", document.path)
}

/// A map that is longer is read by nobody.
const MAP: (&str, usize) = ("ARCHITECTURE.md", 150);

/// Where decisions are, and what each of them says.
const DECISIONS: &str = "docs/decisions/";
const PARTS: [&str; 3] = ["## Context", "## Choice", "## Cost"];
const DECISION_LINES: std::ops::RangeInclusive<usize> = 10..=40;

/// How many lines a gap has at most.
const GAP_LINES: usize = 2;

/// Where each dependency has its reason.
const DEPENDENCIES: &str = "docs/decisions/38-dependencies.md";

/// Where figures of speed stand, and by what they are known; other documents link there.
const SPEED: &str = "docs/speed.md";
const RATES: [&str; 5] = ["pairs/s", "ops/s", "flows/s", "cycles/s", "reports/s"];

/// Folders from which a path in the map and in a decision may begin.
const BEGINNINGS: [&str; 6] = ["", "src/", "crates/diglot/src/", "crates/diglot/", "crates/cargo-diglot/src/", "docs/"];

/// The lines that are prose, with their numbers: no code, and no table of it.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

/// The prose in pieces, with their lines, and whether they stand in backticks, which may be on two lines.
fn pieces(text: &str) -> Vec<(usize, bool, &str)> {
    let mut found = Vec::new();
    let mut is_quoted = false;
    for (at, line) in prose(text) {
        if line.trim().is_empty() {
            is_quoted = false;
        }
        for (n, piece) in line.split('`').enumerate() {
            is_quoted ^= n > 0;
            found.push((at, is_quoted, piece));
        }
    }
    found
}

/// The targets of the links in a text, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut bare: Vec<(usize, String)> = Vec::new();
    for (line, _, piece) in pieces(text).into_iter().filter(|(_, is_quoted, _)| !is_quoted) {
        match bare.last_mut().filter(|(last, _)| *last == line) {
            Some((_, so_far)) => so_far.push_str(piece),
            None => bare.push((line, piece.to_owned())),
        }
    }
    let targets = |line: usize, text: &str| -> Vec<(usize, String)> {
        let behind = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        behind.map(|target| (line, target.to_owned())).collect()
    };
    bare.iter().flat_map(|(line, text)| targets(*line, text)).collect()
}

/// What a link to each heading of a text is called, as the pages of repositories call it.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for (_, line) in prose(text) {
        let Some(title) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#')) else { continue };
        let kept = title.trim().to_lowercase().replace(' ', "-");
        let name: String = kept.chars().filter(|c| c.is_alphanumeric() || ['-', '_'].contains(c)).collect();
        let mut anchor = name.clone();
        let mut number = 0;
        while !seen.insert(anchor.clone()) {
            number += 1;
            anchor = format!("{name}-{number}");
        }
    }
    seen
}

/// The path that a link in a document means, from the root.
fn meant(document: &str, target: &str) -> String {
    let from = Path::new(document).parent().unwrap_or(Path::new(""));
    let mut parts = Vec::new();
    for part in from.join(target).components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

/// Links that lead nowhere; `exists` says which paths there are.
fn broken_links(documents: &[Document], exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut report = Vec::new();
    for document in documents {
        for (line, target) in links(&document.text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = target.split_once('#').map_or((target.as_str(), None), |(file, h)| (file, Some(h)));
            let path = if file.is_empty() { document.path.clone() } else { meant(&document.path, file) };
            if !exists(&path) {
                report.push(complaint(document, line, format_args!("`{target}` leads to no file")));
                continue;
            }
            let (Some(heading), Some(other)) = (heading, documents.iter().find(|other| other.path == path)) else {
                continue;
            };
            if !anchors(&other.text).contains(heading) {
                report.push(complaint(document, line, format_args!("`{target}` leads to no heading")));
            }
        }
    }
    report
}

/// Files that the map or a decision names and that are not there.
fn lost_files(document: &Document, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut report = Vec::new();
    for (line, _, quoted) in pieces(&document.text).into_iter().filter(|(_, is_quoted, _)| *is_quoted) {
        let is_file = [".rs", ".sql", ".toml"].iter().any(|ending| quoted.ends_with(ending));
        let is_path = is_file && !quoted.contains(|c: char| c.is_uppercase() || [' ', '*', '$'].contains(&c));
        if is_path && !found(quoted, exists) {
            report.push(complaint(document, line, format_args!("there is no file `{quoted}`")));
        }
    }
    report
}

/// Whether a path leads to a file from one of the beginnings. A name alone may be a file of any folder of the schema.
fn found(path: &str, exists: &dyn Fn(&str) -> bool) -> bool {
    let schema = ["schema/pg/", "schema/sqlite/", "schema/ledger/pg/"];
    BEGINNINGS.iter().chain(schema.iter()).any(|beginning| exists(&format!("{beginning}{path}")))
}

/// What a decision lacks, and decisions without a line in the list of them.
fn decisions(documents: &[Document]) -> Vec<String> {
    let list = format!("{DECISIONS}README.md");
    let Some(index) = documents.iter().find(|document| document.path == list) else {
        return vec![format!("{list}: [document] there is no list of decisions")];
    };
    let listed: BTreeSet<String> = links(&index.text).into_iter().map(|(_, target)| meant(&list, &target)).collect();
    let mut report = Vec::new();
    for document in documents.iter().filter(|document| document.path.starts_with(DECISIONS) && document.path != list) {
        let headings: Vec<&str> =
            prose(&document.text).map(|(_, line)| line).filter(|line| line.starts_with("## ")).collect();
        if headings != PARTS {
            report.push(complaint(document, 0, format_args!("its headings are {}, in this order", PARTS.join(", "))));
        }
        let lines = document.text.lines().count();
        if !DECISION_LINES.contains(&lines) {
            report.push(complaint(document, 0, format_args!("{lines} lines; a decision has {DECISION_LINES:?}")));
        }
        if !listed.contains(&document.path) {
            report.push(complaint(document, 0, format_args!("{list} has no line for it")));
        }
        let name = document.path.trim_start_matches(DECISIONS);
        let number = name.split('-').next().unwrap_or_default().trim_start_matches('0');
        if !document.text.starts_with(&format!("# {number}. ")) {
            report.push(complaint(document, 1, format_args!("its title begins with its number: `# {number}. `")));
        }
    }
    report
}

/// Gaps that are stories.
fn long_gaps(document: &Document) -> Vec<String> {
    let mut report = Vec::new();
    let (mut begun, mut lines) = (0, 0);
    let ended = |begun: usize, lines: usize, report: &mut Vec<String>| {
        if lines > GAP_LINES {
            report.push(complaint(document, begun, format_args!("a gap of {lines} lines, {GAP_LINES} at most")));
        }
    };
    for (at, line) in prose(&document.text) {
        if line.starts_with("* ") {
            ended(begun, lines, &mut report);
            (begun, lines) = (at, 1);
        } else if line.starts_with("  ") {
            lines += 1;
        } else {
            ended(begun, lines, &mut report);
            (begun, lines) = (0, 0);
        }
    }
    ended(begun, lines, &mut report);
    report
}

fn too_long(document: &Document) -> Option<String> {
    let (name, most) = MAP;
    let lines = document.text.lines().count();
    (document.path == name && lines > most)
        .then(|| complaint(document, 0, format_args!("{lines} lines; a map has {most} at most")))
}

/// Figures of speed outside of their page, where they would be others one day.
fn stray_rates(document: &Document) -> Vec<String> {
    let known = |line: &str| RATES.iter().find(|rate| line.contains(**rate)).copied();
    let strays = prose(&document.text).filter_map(|(line, text)| Some((line, known(text)?)));
    strays
        .map(|(line, rate)| complaint(document, line, format_args!("`{rate}` belongs in {SPEED}; link to it")))
        .collect()
}

/// The crates that a manifest asks for in one of its tables of dependencies, but those of the repository itself.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let mut is_asking = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_asking = line.ends_with("dependencies]");
            continue;
        }
        let Some((name, wanted)) = line.split_once('=').filter(|_| is_asking) else { continue };
        let name = name.trim().trim_end_matches(".workspace");
        if !name.starts_with('#') && !wanted.contains("path = ") {
            found.insert(name);
        }
    }
    found
}

/// Dependencies without a reason, and reasons without a dependency.
fn unfounded(reasons: &Document, wanted: &BTreeSet<&str>) -> Vec<String> {
    let cells = prose(&reasons.text).filter_map(|(_, line)| line.strip_prefix("| ")?.split(" |").next());
    let named: BTreeSet<&str> =
        cells.skip(1).flat_map(|cell| cell.split(", ")).filter_map(|name| name.split(' ').next()).collect();
    let mut report = Vec::new();
    for lacking in wanted.difference(&named) {
        report.push(complaint(reasons, 0, format_args!("`{lacking}` has no reason")));
    }
    for gone in named.difference(wanted) {
        report.push(complaint(reasons, 0, format_args!("no manifest asks for `{gone}`")));
    }
    report
}

/// Complaints about all documents.
fn complaints(documents: &[Document], exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut report = broken_links(documents, exists);
    report.extend(decisions(documents));
    report.extend(documents.iter().filter_map(too_long));
    for document in documents {
        if document.path == MAP.0 || document.path.starts_with(DECISIONS) {
            report.extend(lost_files(document, exists));
        }
        if document.path == "docs/gaps.md" {
            report.extend(long_gaps(document));
        }
        if document.path != SPEED {
            report.extend(stray_rates(document));
        }
    }
    report
}

/// The documents of the repository: those at its root, the book, and the pages of the crates and examples.
fn documents(root: &Path) -> Vec<Document> {
    let mut paths = Vec::new();
    for folder in [
        "",
        "docs",
        "docs/decisions",
        "crates/diglot",
        "crates/cargo-diglot",
        "crates/diglot-migrate",
        "crates/diglot-tools",
    ] {
        let entries = fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let of = entries.map(|entry| entry.expect("a folder can be read").path());
        // What a link of the system leads to is read where it is.
        let is_page =
            |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md") && !path.is_symlink();
        paths.extend(of.filter(is_page));
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.strip_prefix(root).expect("it is below").to_string_lossy().replace('\\', "/");
        Document { path: name, text }
    };
    paths.iter().map(read).collect()
}

#[test]
fn the_documents_lead_somewhere_and_keep_their_form() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let documents = documents(root);
    assert!(documents.iter().any(|document| document.path == MAP.0), "{} is there", MAP.0);
    assert!(documents.iter().any(|document| document.path == "docs/gaps.md"), "docs/gaps.md is there");
    let report = complaints(&documents, &|path| root.join(path).exists());
    assert!(report.is_empty(), "\n{}", report.join("\n"));
}

#[test]
fn every_dependency_has_its_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let crates = [
        "",
        "crates/diglot/",
        "crates/cargo-diglot/",
        "crates/diglot-migrate/",
        "crates/diglot-tools/",
        "crates/playground/",
        "crates/playground/bind/",
    ];
    let manifests = crates.map(|folder| read(&format!("{folder}Cargo.toml")));
    let wanted = manifests.iter().flat_map(|manifest| dependencies(manifest));
    let wanted = wanted.filter(|name| !name.starts_with("diglot")).collect();
    let report = unfounded(&Document { path: DEPENDENCIES.into(), text: read(DEPENDENCIES) }, &wanted);
    assert!(report.is_empty(), "\n{}", report.join("\n"));
}

/// What is said of planted documents, where these and `files` are all that is there.
fn planted(documents: &[(&str, &str)], files: &[&str]) -> Vec<String> {
    let list = ("docs/decisions/README.md", "* [1](01-one.md) One\n");
    let all = documents.iter().chain(documents.iter().all(|(path, _)| *path != list.0).then_some(&list));
    let made: Vec<Document> = all.map(|(path, text)| Document { path: (*path).into(), text: (*text).into() }).collect();
    let exists = |path: &str| {
        made.iter().any(|document| document.path == path) || files.contains(&path) || path == "docs/decisions/01-one.md"
    };
    complaints(&made, &exists)
}

#[test]
fn a_link_without_a_file_or_a_heading_is_found() {
    let other = ("docs/other.md", "# One page\n\n## What `it` does, and why\n\n## Twice\n\n## Twice\n");
    for (link, wrong) in [
        ("[a](other.md)", false),
        ("[a](other.md#what-it-does-and-why)", false),
        ("[a](other.md#twice-1), [b](../docs/other.md#one-page), [c](#here)", false),
        ("[a](https://example.org/none.md) and `[b](none.md)`", false),
        ("`one\ntwo [b](none.md)` three", false),
        ("[a](../src/lib.rs)", false),
        ("[a](none.md)", true),
        ("[a](other.md) and [b](none.md)", true),
        ("[a](other.md#what-it-is)", true),
        ("[a](other.md#twice-2)", true),
        ("[a](#there)", true),
        ("![a](none.svg)", true),
    ] {
        let text = format!("# Here\n\n{link}\n\n```\n[x](none.md)\n```\n");
        let found = planted(&[("docs/page.md", text.as_str()), other], &["src/lib.rs"]);
        assert_eq!(found.len(), usize::from(wrong), "{link}: {found:?}");
        assert!(found.iter().all(|found| found.starts_with("docs/page.md:3: ")), "{found:?}");
    }
}

#[test]
fn a_decision_without_its_parts_or_its_line_is_found() {
    let whole = "# 1. One\n\n## Context\n\na\n\n## Choice\n\nb `db/tx.rs`\n\n## Cost\n\nc\n";
    let with = |path: &str, text: &str| planted(&[(path, text)], &["src/db/tx.rs"]);
    assert_eq!(with("docs/decisions/01-one.md", whole), [""; 0]);
    assert_eq!(with("docs/decisions/02-one.md", whole).len(), 2, "no line, and another number");
    assert_eq!(with("docs/decisions/01-one.md", &whole.replace("## Cost", "## Price")).len(), 1);
    assert_eq!(with("docs/decisions/01-one.md", &whole.replace("## Cost\n\nc\n", "")).len(), 1);
    assert_eq!(with("docs/decisions/01-one.md", &format!("{whole}{}", "more\n".repeat(40))).len(), 1);
    assert_eq!(with("docs/decisions/01-one.md", "# 1. One\n\n## Context\n## Choice\n## Cost\n").len(), 1, "too short");
    let lost = with("docs/decisions/01-one.md", &whole.replace("db/tx.rs", "db/gone.rs"));
    assert_eq!(lost, ["docs/decisions/01-one.md:9: [document] there is no file `db/gone.rs`"]);
}

#[test]
fn a_dependency_without_a_reason_and_a_reason_without_a_dependency_are_found() {
    let manifest = "[package]\nname = \"a\"\n\n[dependencies]\n# Of ours.\nsha2.workspace = true\nown = { path = \"o\" }\n\
                    [target.'cfg(os = \"a\")'.dependencies]\nrustix = { version = \"1\" }\n\n[features]\nextra = []\n";
    let wanted = dependencies(manifest);
    assert_eq!(wanted, BTreeSet::from(["rustix", "sha2"]));
    let reasons =
        |rows: &str| Document { path: DEPENDENCIES.into(), text: format!("| Crate | Why |\n|---|---|\n{rows}") };
    assert_eq!(unfounded(&reasons("| rustix 1, sha2 | both |\n"), &wanted), [""; 0]);
    let found = unfounded(&reasons("| sha2, syn | one |\n"), &wanted);
    assert!(
        found.len() == 2 && found[0].contains("`rustix` has no") && found[1].contains("asks for `syn`"),
        "{found:?}"
    );
}

#[test]
fn a_figure_of_speed_outside_of_its_page_is_found() {
    let text = "# A page\n\nFour workers make 1,223 pairs/s.\n";
    assert_eq!(planted(&[("docs/speed.md", text)], &[]), [""; 0]);
    let found = planted(&[("docs/backend.md", text)], &[]);
    assert_eq!(found, ["docs/backend.md:3: [document] `pairs/s` belongs in docs/speed.md; link to it"]);
}

#[test]
fn a_long_map_and_a_long_gap_are_found() {
    assert_eq!(planted(&[("ARCHITECTURE.md", &"line\n".repeat(150))], &[]), [""; 0]);
    assert_eq!(planted(&[("ARCHITECTURE.md", &"line\n".repeat(151))], &[]).len(), 1);
    assert_eq!(planted(&[("docs/gaps.md", "# Gaps\n\n* one\n* two,\n  and why\n\ntext\n")], &[]), [""; 0]);
    for long in ["* one\n  two\n  three\n", "* one\n  two\n  three\n* four\n", "* one\n  two\n  three\n\n## more\n"] {
        let found = planted(&[("docs/gaps.md", &format!("# Gaps\n\n{long}"))], &[]);
        assert_eq!(found, ["docs/gaps.md:3: [document] a gap of 3 lines, 2 at most"], "{long}");
    }
}
