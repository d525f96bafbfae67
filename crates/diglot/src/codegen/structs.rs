//! The one way in which a struct with documented fields is written.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::ident;

/// A field with its documentation.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) doc: String,
    pub(super) ty: TokenStream,
}

/// A struct with public fields.
pub(super) fn documented<'a>(name: &str, doc: &str, fields: impl Iterator<Item = Field<'a>>) -> TokenStream {
    let (name, doc) = (ident(name), format!(" {doc}"));
    let fields = fields.map(|field| {
        let (name, doc, ty) = (ident(field.name), format!(" {}", field.doc), field.ty);
        quote!(#[doc = #doc] pub #name: #ty)
    });
    quote! {
        #[doc = #doc]
        #[derive(Debug, Clone)]
        pub struct #name { #(#fields),* }
    }
}
