//! Names that come from files and SQL, as Rust can have them.

use proc_macro2::{Ident, Span};

/// An identifier for any name: raw for keywords, with other characters replaced where nothing else helps.
pub(super) fn ident(name: &str) -> Ident {
    // Nearly all names are of this kind, and no word of Rust has an underscore inside.
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    let inside = name.trim_matches('_');
    if inside.contains('_') && name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(is_plain) {
        return Ident::new(name, Span::call_site());
    }
    if let Ok(ident) = syn::parse_str::<Ident>(name) {
        return ident;
    }
    if let Ok(ident) = syn::parse_str::<Ident>(&format!("r#{name}")) {
        return ident;
    }
    let mut plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    plain.push('_');
    if plain.starts_with(|c: char| c.is_ascii_digit()) {
        plain.insert(0, 'n');
    }
    Ident::new(if plain == "_" { "unnamed" } else { &plain }, Span::call_site())
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

/// Names that the generated file uses itself.
const TAKEN: [&str; 9] =
    ["diglot_support", "sqlite_only", "pg_only", "sqlx", "std", "uuid", "serde_json", "futures_core", "futures_util"];

/// Whether a file's stem can be the name of a module beside those of the generated file.
pub(crate) fn is_module_name(noun: &str) -> bool {
    syn::parse_str::<Ident>(noun).is_ok() && !TAKEN.contains(&noun)
}

/// A line of documentation that rustdoc reads as text: no code block, and so no test, comes out of it.
pub(super) fn doc_line(line: &str) -> String {
    let text: String = line.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.starts_with("```") || text.starts_with("~~~") { format!("\\{text}") } else { text }
}
