//! State words stand in `src/model/` alone: elsewhere they are variants of the enums there.
//!
//! Which words there are is read from the enums themselves, in `src/model/word.rs`.

use std::collections::BTreeSet;

use super::{Complaint, File, Rust};

/// Where the enums are.
const WORDS: &str = "src/model/word.rs";

/// Whether a file has to name states by their enums. What opens and keeps connections knows no states.
fn names_states(path: &str) -> bool {
    path.starts_with("src/") && path.ends_with(".rs") && !path.starts_with("src/model/") && !path.starts_with("src/db/")
}

/// The words of the enums: what stands after `NAME =` inside of a `words!`.
fn words(enums: &str) -> BTreeSet<String> {
    let code = enums.split("#[cfg(test)]").next().unwrap_or_default();
    let line = |line: &str| {
        let (name, text) = line.trim().split_once(" = ")?;
        let word = text.strip_prefix('"')?.strip_suffix("\",")?;
        name.chars().all(char::is_alphanumeric).then(|| word.to_owned())
    };
    code.lines().filter_map(line).collect()
}

/// Quoted words in a file, outside of its tests, which show what rows hold.
fn quoted(words: &BTreeSet<String>, text: &str) -> Vec<Complaint> {
    let tests = text.lines().position(|line| line.starts_with("#[cfg(test)]")).map_or(usize::MAX, |line| line + 1);
    let strings = Rust::new(text).strings.into_iter();
    let found = strings.filter(|(line, string)| *line < tests && words.contains(string));
    found
        .map(|(line, string)| (line, format!("\"{string}\" is a state word; name it by its enum in {WORDS}")))
        .collect()
}

/// Complaints about all files of `src/`.
pub(crate) fn complaints(files: &[File]) -> Vec<String> {
    let Some(enums) = files.iter().find(|file| file.path == WORDS) else {
        return vec![format!("{WORDS}: [state-word] the file with the enums of state words is missing")];
    };
    let words = words(&enums.text);
    let are_tests = |path: &str| path.starts_with("src/open/tests");
    let mut report = Vec::new();
    for file in files.iter().filter(|file| names_states(&file.path) && !are_tests(&file.path)) {
        for (line, what) in quoted(&words, &file.text) {
            report.push(format!("{}:{line}: [state-word] {what}", file.path));
        }
    }
    report
}

#[test]
fn a_quoted_word_of_an_enum_is_found_and_other_words_are_not() {
    let enums =
        "words! {\n    /// `phase`\n    Phase {\n        Active = \"active\",\n        Ended = \"ended\",\n    }\n}\n";
    assert_eq!(words(enums), BTreeSet::from(["active".to_owned(), "ended".to_owned()]));
    let complaints = |path: &str, text: &str| {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        complaints(&[file(WORDS, enums), file(path, text)]).len()
    };
    let planted = "fn f(p: &str) -> bool {\n    p == \"active\"\n}\n";
    assert_eq!(complaints("src/engine/lease.rs", planted), 1);
    assert_eq!(complaints("src/events/family.rs", "match word { \"ended\" | \"active\" => 1, _ => 2 }"), 2);
    assert_eq!(complaints("src/model/state.rs", planted), 0);
    assert_eq!(complaints("src/engine/lease.rs", "// \"active\"\nlet s = \"activity\";"), 0);
    assert_eq!(complaints("src/engine/lease.rs", "#[cfg(test)]\nmod tests {\n    const P: &str = \"active\";\n}"), 0);
}

#[test]
fn without_the_enums_nothing_passes() {
    assert_eq!(complaints(&[]).len(), 1);
}
