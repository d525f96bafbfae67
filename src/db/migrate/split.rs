//! Cuts a Postgres schema file into its statements, so that each can be committed by itself.
//!
//! Knows quoted names and texts, dollar quotes and comments; it does not parse.

/// The statements of a file without their semicolons. Comments in front of a statement are left out.
pub(super) fn statements(file: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = None;
    let mut at = 0;
    while let Some(next) = file.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = &file[at..];
        if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len()); // tidy: the text may end in a comment
            continue;
        }
        if next == ';' {
            if let Some(from) = start.take() {
                found.push(file[from..at].trim_end());
            }
            at += 1;
            continue;
        }
        if !next.is_whitespace() && start.is_none() {
            start = Some(at);
        }
        at += token(rest, next);
    }
    if let Some(from) = start {
        found.push(file[from..].trim_end());
    }
    found
}

/// The length of the quoted piece that `rest` starts with, or of its first character.
fn token(rest: &str, first: char) -> usize {
    let delimiter = match first {
        '\'' => "'",
        '"' => "\"",
        '$' => dollar_quote(rest),
        _ => return first.len_utf8(),
    };
    match rest.get(delimiter.len()..).and_then(|body| body.find(delimiter)) {
        Some(length) => length + 2 * delimiter.len(),
        None => rest.len(),
    }
}

/// The `$tag$` that `rest` starts with, or the lone `$`.
fn dollar_quote(rest: &str) -> &str {
    let tag = rest[1..].find(|c: char| !(c.is_alphanumeric() || c == '_')).map(|length| length + 1);
    match tag {
        Some(end) if rest[end..].starts_with('$') => &rest[..=end],
        _ => &rest[..1],
    }
}

#[cfg(test)]
mod tests {
    use super::statements;

    #[test]
    fn statements_end_at_semicolons_outside_of_quotes_and_comments() {
        let file = "-- first; not a statement\nSELECT ';', \"a;b\", 'it''s;' ;\n\n-- next\nDO $$ BEGIN x; END $$;\nDO $a$ $$ ; $$ $a$;SELECT 1 -- end;\n";
        assert_eq!(
            statements(file),
            ["SELECT ';', \"a;b\", 'it''s;'", "DO $$ BEGIN x; END $$", "DO $a$ $$ ; $$ $a$", "SELECT 1 -- end;",]
        );
    }

    #[test]
    fn an_empty_file_has_no_statements() {
        assert!(statements("-- nothing\n;;\n").is_empty());
    }
}
