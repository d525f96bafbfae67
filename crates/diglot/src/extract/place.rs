//! What a place in a statement takes, whatever stands there when the program runs.

/// Where the quotes open that a text ends in the midst of.
pub(super) fn quote(text: &str) -> Option<usize> {
    let (mut open, mut at) = (None, 0);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match (open, first) {
            (Some(_), '\'') => {
                open = None;
                1
            }
            (None, '\'') => {
                open = Some(at);
                1
            }
            (None, '-') if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            (None, '/') if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            (_, other) => other.len_utf8(),
        };
    }
    open
}

/// Whether one value is what follows a text: behind a comparison, or in a list behind IN.
pub(super) fn takes_value(before: &str) -> bool {
    let before = before.trim_end();
    let is_arrow = ["=>", "->", "->>", "@>", "#>", "#>>", "<@"].iter().any(|sign| before.ends_with(sign));
    let is_compared = before.ends_with(['=', '<', '>']) && !is_arrow;
    let word = last_word(before);
    is_compared || ["LIKE", "ILIKE", "GLOB", "BETWEEN"].contains(&word.as_str()) || is_list(before)
}

/// Whether a text ends where the items of a list behind IN begin.
pub(super) fn is_list(before: &str) -> bool {
    before.trim_end().strip_suffix('(').is_some_and(|before| last_word(before.trim_end()) == "IN")
}

/// Whether a value may end before what follows: no name, call or operator goes on with it.
pub(super) fn ends_value(next: &str) -> bool {
    next.is_empty() || next.starts_with(|c: char| c.is_whitespace() || ");,".contains(c)) || next.starts_with("::")
}

/// Whether the bracket is closed that stands around a place.
pub(super) fn is_closed(next: &str) -> bool {
    next.trim_start().starts_with(')')
}

/// Whether rows of VALUES are all that may stand between a text and what follows it.
pub(super) fn takes_rows(before: &str, next: &str) -> bool {
    let upper = before.trim_end().to_uppercase();
    let Some((head, rows)) = upper.rsplit_once("VALUES").filter(|_| upper.ends_with(')')) else { return false };
    let depth = rows.matches('(').count().checked_sub(rows.matches(')').count());
    let behind = next.trim_start().to_uppercase();
    let ends = behind.is_empty() || ["ON ", "RETURNING", ";"].iter().any(|word| behind.starts_with(word));
    head.contains("INSERT") && depth == Some(0) && !rows.contains("SELECT") && !rows.contains(" ON ") && ends
}

/// Whether code joins conditions to a text: `parts.join(" AND ")`, `strings.Join(parts, " AND ")`.
pub(super) fn joins_conditions(code: &str) -> bool {
    let joins = code.contains(".join(") || code.contains(".Join(");
    joins && code.to_uppercase().trim_end().ends_with("\" AND \")")
}

/// Whether the name of a schema that is made is all that may follow a text, whichever that is.
pub(super) fn names_schema(before: &str) -> bool {
    let before = before.trim_end_matches('"').trim_end().to_uppercase();
    let words: Vec<&str> = before.rsplit(char::is_whitespace).filter(|word| *word != "NOT").take(4).collect();
    matches!(words.as_slice(), ["SCHEMA", "CREATE", ..] | ["EXISTS", "IF", "SCHEMA", "CREATE"])
}

/// What a part is called, as a name.
pub(super) fn as_name(code: &str) -> String {
    let word = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    code.chars().map(word).collect()
}

pub(super) fn last_word(text: &str) -> String {
    text.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_follows_comparisons_and_stands_in_lists() {
        for before in ["WHERE bay =", "bay >= ", "bay LIKE ", "bay NOT IN (", "a BETWEEN"] {
            assert!(takes_value(before), "{before}");
        }
        for before in ["WHERE ", "SELECT ", "doc ->", "f(", "ORDER BY ", "interval "] {
            assert!(!takes_value(before), "{before}");
        }
        assert!(ends_value("") && ends_value(" AND b") && ends_value(")") && !ends_value(".id") && !ends_value("(1)"));
    }

    #[test]
    fn quotes_are_those_of_the_text_itself() {
        assert_eq!(quote("a = 'it''s' AND b = 'x"), Some(20));
        assert_eq!(quote("a = 'it''s'"), None);
        assert_eq!(quote("a -- it's\n /* it's */ = 1"), None);
    }

    #[test]
    fn rows_follow_rows() {
        assert!(takes_rows("INSERT INTO lot (id) VALUES ($1)", ""));
        assert!(takes_rows("INSERT INTO lot (id) VALUES ($1), ($2)", " ON CONFLICT DO NOTHING"));
        assert!(!takes_rows("INSERT INTO lot (id) VALUES ($1)", " WHERE"));
        assert!(!takes_rows("INSERT INTO lot (id) VALUES ($1", ")"));
        assert!(!takes_rows("SELECT id FROM lot WHERE id IN (VALUES (1))", ""));
    }
}
