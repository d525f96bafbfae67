//! The one way in which a struct with documented fields is written.

use quote::ToTokens as _;

use super::code::{Code, line};
use super::types::compact;
use crate::config::Generate;
use crate::names::ident;

/// A field with its documentation.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) doc: String,
    pub(super) ty: String,
}

/// What stands before and over every struct.
pub(super) struct Style {
    /// Who may see what is generated.
    pub(super) seen: String,
    derives: String,
}

impl Style {
    pub(super) fn of(generate: &Generate) -> Self {
        let seen = syn::parse_str::<syn::Visibility>(&generate.visibility)
            .map_or_else(|_| "pub".to_owned(), |seen| compact(seen.to_token_stream()));
        let given = generate.derive.iter().filter(|path| !["Debug", "Clone"].contains(&path.as_str()));
        let given = given.filter_map(|path| syn::parse_str::<syn::Path>(path).ok());
        let derives = given.fold("Debug, Clone".to_owned(), |all, path| all + ", " + &compact(path.to_token_stream()));
        Self { seen, derives }
    }
}

impl Style {
    /// The traits that are derived.
    pub(super) fn derives(&self) -> &str {
        &self.derives
    }

    /// The traits that are derived, but for some that are derived anyway.
    pub(super) fn derives_without(&self, others: &[&str]) -> String {
        self.derives.split(", ").filter(|path| !others.contains(path)).collect::<Vec<_>>().join(", ")
    }
}

/// A struct whose fields are seen as it is. `'p` is the lifetime of what it borrows, if it does.
pub(super) fn documented<'a>(
    code: &mut Code,
    style: &Style,
    name: &str,
    borrows: bool,
    doc: &str,
    fields: impl Iterator<Item = Field<'a>>,
) {
    let (Style { seen, derives }, name) = (style, ident(name));
    let lifetime = if borrows { "<'p>" } else { "" };
    code.gap();
    code.doc(doc);
    line!(code, "#[derive({derives})]");
    code.open(format_args!("{seen} struct {name}{lifetime} {{"));
    for Field { name, doc, ty } in fields {
        code.doc(&doc);
        line!(code, "{seen} {}: {ty},", ident(name));
    }
    code.close("}");
}
