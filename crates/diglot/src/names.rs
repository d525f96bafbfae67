//! Names that come from files and SQL, as Rust can have them.

use std::borrow::Cow;

use syn::Ident;

/// Every word that Rust keeps for itself, in order.
const KEPT: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Whether a name is an identifier beyond doubt: letters, digits and underscores, and no word of Rust's.
pub fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !is_kept(name)
}

/// Whether Rust keeps a word for itself.
pub(crate) fn is_kept(word: &str) -> bool {
    KEPT.binary_search(&word).is_ok()
}

/// A name as the identifier that it is, as it stands or raw.
fn parsed(name: &str) -> syn::Result<Ident> {
    syn::parse_str(name).or_else(|_| syn::parse_str(&format!("r#{name}")))
}

/// An identifier for any name: raw for keywords, with other characters replaced where nothing else helps.
pub(crate) fn ident(name: &str) -> Cow<'_, str> {
    if is_plain(name) {
        return Cow::Borrowed(name);
    }
    // Text around an identifier that means nothing to Rust, such as a comment, is no part of it.
    if let Ok(ident) = parsed(name) {
        return Cow::Owned(ident.to_string());
    }
    let mut plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    plain.push('_');
    if plain.starts_with(|c: char| c.is_ascii_digit()) {
        plain.insert(0, 'n');
    }
    Cow::Owned(if plain == "_" { "unnamed".to_owned() } else { plain })
}

/// `lease_renew` as `LeaseRenew`.
pub(crate) fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    for word in name.split('_') {
        let mut chars = word.chars();
        camel.extend(chars.next().map(|c| c.to_ascii_uppercase()));
        camel.extend(chars);
    }
    camel
}

/// The candidate that a misspelt name most likely meant.
pub(crate) fn nearest<'c>(name: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let close = |candidate: &&str| strsim::osa_distance(name, candidate);
    let length = name.chars().count();
    let limit = if length < 2 { 0 } else { (length / 3).max(1) };
    candidates.min_by_key(close).filter(|best| close(best) <= limit || best.ends_with(name))
}

/// Names that the generated file uses itself.
const TAKEN: [&str; 10] = [
    "diglot_support",
    "sqlite_only",
    "pg_only",
    "in_steps",
    "sqlx",
    "std",
    "uuid",
    "serde_json",
    "futures_core",
    "futures_util",
];

/// Whether a file's stem can be the name of a module beside those of the generated file.
pub fn is_module_name(noun: &str) -> bool {
    (is_plain(noun) || syn::parse_str::<Ident>(noun).is_ok()) && !TAKEN.contains(&noun)
}

/// Whether a column's name can be a field's, as it is or raw.
pub fn is_field_name(name: &str) -> bool {
    is_plain(name) || parsed(name).is_ok()
}

/// A line of documentation that rustdoc reads as text: no code block, and so no test, comes out of it.
pub(crate) fn doc_line(line: &str) -> Cow<'_, str> {
    let line = line.trim();
    let text = match line.contains(char::is_control) {
        true => Cow::Owned(line.replace(char::is_control, " ")),
        false => Cow::Borrowed(line),
    };
    if text.starts_with("```") || text.starts_with("~~~") { Cow::Owned(format!("\\{text}")) } else { text }
}
