//! The text of a rule, cut out of its page while diglot itself is compiled.
//!
//! Working on bytes in `const` functions keeps the list of all rules a constant.

/// The first line of a page, and what stands behind the empty line after it.
pub(crate) const fn cut(page: &str) -> (&str, &str) {
    let bytes = page.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b'\n' {
        end += 1;
    }
    let (summary, rest) = page.split_at(end);
    let (_, doc) = rest.split_at(if rest.len() < 2 { rest.len() } else { 2 });
    (summary, doc)
}

/// The name of a file with hyphens for its underscores.
pub(crate) const fn kebab<const N: usize>(file: &str) -> [u8; N] {
    let bytes = file.as_bytes();
    let mut name = [0; N];
    let mut at = 0;
    while at < N {
        name[at] = if bytes[at] == b'_' { b'-' } else { bytes[at] };
        at += 1;
    }
    name
}

/// The bytes as text.
pub(crate) const fn as_text(bytes: &'static [u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}
