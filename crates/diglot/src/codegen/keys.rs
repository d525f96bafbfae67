//! Keys of the settings: one field of a struct in the place of several.

use quote::ToTokens as _;

use super::structs::Field;
use super::types::compact;
use crate::config::{Config, Ownership};
use crate::infer::keys::{Member, parts};
use crate::names::ident;

/// The fields of a struct of these members, keys borrowed or not; `own` makes one of a member that belongs to no key.
pub(super) fn fields<'m, M: Member + 'm>(
    config: &Config,
    is_borrowed: bool,
    members: impl Iterator<Item = &'m M>,
    own: impl Fn(&'m M) -> Field<'m>,
) -> Vec<Field<'m>> {
    let borrow = if is_borrowed { "&'p " } else { "" };
    let mut fields = Vec::new();
    for (key, members) in parts(members) {
        match key {
            Some(name) => {
                let doc = members.into_iter().map(|member| own(member).doc).collect::<Vec<_>>().join(" ");
                fields.push(Field { name, doc, ty: format!("{borrow}{}", path(config, name)) });
            }
            None => fields.extend(members.into_iter().map(&own)),
        }
    }
    fields
}

/// Whether a key is borrowed where it is taken.
pub(super) fn is_borrowed(config: &Config) -> bool {
    config.generate.params == Ownership::Borrowed
}

/// The path of the struct of a key.
pub(super) fn path(config: &Config, key: &str) -> String {
    let path = config.keys.get(key).and_then(|key| syn::parse_str::<syn::Path>(&key.rust).ok());
    path.map(|path| compact(path.to_token_stream())).unwrap_or_default()
}

/// The place of a member in what is called `owner`.
pub(super) fn place(owner: &str, member: &impl Member) -> String {
    let field = ident(member.name());
    match member.within() {
        Some(key) => format!("{owner}.{}.{field}", ident(key)),
        None => format!("{owner}.{field}"),
    }
}

/// The names of the fields.
pub(super) fn names<'m, M: Member + 'm>(members: impl Iterator<Item = &'m M>) -> Vec<&'m str> {
    let names = parts(members).into_iter();
    names.filter_map(|(key, members)| key.or(members.first().map(|member| member.name()))).collect()
}
