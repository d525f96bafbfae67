//! The text of a rule, cut out of its file while diglot itself is compiled.
//!
//! A file begins with `//!` lines: the summary, an empty line, the rest. Working on bytes in `const` functions
//! keeps the list of all rules a constant.

/// How many bytes the summary has.
pub(crate) const fn summary_length(source: &str) -> usize {
    cut::<0>(source, true).1
}

/// The first line, without its mark.
pub(crate) const fn summary<const N: usize>(source: &str) -> [u8; N] {
    cut::<N>(source, true).0
}

/// How many bytes the rest has.
pub(crate) const fn doc_length(source: &str) -> usize {
    cut::<0>(source, false).1
}

/// The `//!` lines behind the first, without their marks.
pub(crate) const fn doc<const N: usize>(source: &str) -> [u8; N] {
    cut::<N>(source, false).0
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

/// Copies as many bytes as there is room for, and counts all of them.
const fn cut<const N: usize>(source: &str, first: bool) -> ([u8; N], usize) {
    let bytes = source.as_bytes();
    let mut text = [0; N];
    let mut length = 0;
    let mut at = 0;
    let mut line = 0;
    while at + 2 < bytes.len() && bytes[at] == b'/' && bytes[at + 1] == b'/' && bytes[at + 2] == b'!' {
        at += 3;
        if at < bytes.len() && bytes[at] == b' ' {
            at += 1;
        }
        while at < bytes.len() {
            let byte = bytes[at];
            at += 1;
            let wanted = if first { line == 0 && byte != b'\n' } else { line > 1 };
            if wanted {
                if length < N {
                    text[length] = byte;
                }
                length += 1;
            }
            if byte == b'\n' {
                break;
            }
        }
        line += 1;
    }
    (text, length)
}
