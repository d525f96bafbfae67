//! The one way in which a struct with documented fields is written.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::ident;
use crate::config::Generate;

/// A field with its documentation.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) doc: String,
    pub(super) ty: TokenStream,
}

/// Who may see what is generated.
pub(super) fn visibility(generate: &Generate) -> TokenStream {
    syn::parse_str::<syn::Visibility>(&generate.visibility).map_or_else(|_| quote!(pub), |seen| quote!(#seen))
}

/// A struct whose fields are seen as it is. `'p` is the lifetime of what it borrows, if it does.
pub(super) fn documented<'a>(
    generate: &Generate,
    name: &str,
    borrows: bool,
    doc: &str,
    fields: impl Iterator<Item = Field<'a>>,
) -> TokenStream {
    let (seen, lifetime) = (visibility(generate), borrows.then(|| quote!(<'p>)));
    let given = generate.derive.iter().filter(|path| !["Debug", "Clone"].contains(&path.as_str()));
    let derives = given.filter_map(|path| syn::parse_str::<syn::Path>(path).ok());
    let (name, doc) = (ident(name), format!(" {doc}"));
    let fields = fields.map(|field| {
        let (name, doc, ty) = (ident(field.name), format!(" {}", field.doc), field.ty);
        quote!(#[doc = #doc] #seen #name: #ty)
    });
    quote! {
        #[doc = #doc]
        #[derive(Debug, Clone #(, #derives)*)]
        #seen struct #name #lifetime { #(#fields),* }
    }
}
