//! Text on its way into HTML and Markdown: nothing of it can become markup, and nothing of it can hide.

/// Characters that change the direction of the text around them, or that cannot be seen.
fn hides(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{061c}')
        || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// For HTML: between tags and in quoted attributes.
pub(super) fn html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if hides(c) => safe.push_str(&format!("&lt;U+{:04X}&gt;", u32::from(c))),
            c => safe.push(c),
        }
    }
    safe
}

/// A sentence for HTML; what stands between back ticks is code.
pub(super) fn prose(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() * 2);
    let parts: Vec<&str> = text.split('`').collect();
    for (at, part) in parts.iter().enumerate() {
        match (at % 2 == 1, at + 1 == parts.len()) {
            (true, false) => safe.push_str(&format!("<code>{}</code>", html(part))),
            // A back tick that none closes stays one.
            (true, true) => safe.push_str(&format!("`{}", html(part))),
            (false, _) => safe.push_str(&html(part)),
        }
    }
    safe
}

/// For a sentence in Markdown, on one line: no markup, no link, no mention.
pub(super) fn markdown(text: &str) -> String {
    let mut safe = String::new();
    for c in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // Neither a mention nor a reference nor an address is one with a comment in it.
            '@' | '#' | ':' => {
                safe.push('\\');
                safe.push(c);
                safe.push_str("<!-- -->");
            }
            c if hides(c) => safe.push_str(&format!("&lt;U+{:04X}&gt;", u32::from(c))),
            c if c.is_ascii_punctuation() && !matches!(c, ',' | ';' | '\'' | '/' | '?' | '.' | '%' | '=' | '"') => {
                safe.push('\\');
                safe.push(c);
            }
            c => safe.push(c),
        }
    }
    // A number with a point at the beginning of a line would be a list.
    safe.replace("www.", "www\\.")
}

/// A code span: the fence is longer than any run of back ticks inside.
pub(super) fn code(text: &str) -> String {
    let line = visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let fence = "`".repeat(longest_run(&line) + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{line}{pad}{fence}")
}

/// A block of code: the fence is longer than any run of back ticks inside.
pub(super) fn block(language: &str, text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat((longest_run(&text) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

fn visible(text: &str) -> String {
    let show = |c: char| if hides(c) { format!("<U+{:04X}>", u32::from(c)) } else { c.to_string() };
    text.replace("\r\n", "\n").chars().map(show).collect()
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(html("<b a='\"'>&"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;");
        assert_eq!(prose("write `a < b`, not `c`: `"), "write <code>a &lt; b</code>, not <code>c</code>: `");
        assert_eq!(markdown("[a](b) *c* <i> `d`"), r"\[a\]\(b\) \*c\* &lt;i&gt; \`d\`");
        assert_eq!(markdown("@team see #1"), r"\@<!-- -->team see \#<!-- -->1");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(block("sql", "a\n```\nb\n"), "````sql\na\n```\nb\n````\n");
    }

    #[test]
    fn nothing_hides() {
        assert_eq!(html("a\u{202e}b\u{0}"), "a&lt;U+202E&gt;b&lt;U+0000&gt;");
        assert_eq!(code("a\u{202e}b"), "`a<U+202E>b`");
        assert_eq!(block("", "\u{2066}"), "```\n<U+2066>\n```\n");
    }
}
