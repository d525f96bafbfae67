//! What stands in for statements whose signature is not known, so that code which calls them gives no
//! errors of its own beside the one that matters.
//!
//! In this order: what an earlier run generated, when it still has the fields that the statement names
//! today; what one page alone says; what an earlier run generated; a function that takes anything.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::code::Code;
use super::enums;
use super::functions::{BROKEN, BROKEN_STREAM, error, of_module};
use super::types::compact;
use super::{keys, structs};
use crate::config::{Config, Driver};
use crate::dialect::Dialect;
use crate::infer::Signature;
use crate::names::ident;

/// A statement without a signature.
#[derive(Debug, Clone)]
pub(crate) struct Unknown {
    pub(crate) noun: String,
    pub(crate) name: String,
    /// The dialects that are to have it.
    pub(crate) dialects: Vec<Dialect>,
    /// What the pages say of it that were understood.
    pub(crate) shape: Option<Signature>,
    /// Whether `shape` comes from one page of two, which may know less than both.
    pub(crate) alone: bool,
}

/// The stubs of statements without a signature.
pub(super) struct Stubs<'a> {
    config: &'a Config,
    types: BTreeMap<String, Vec<syn::Item>>,
    /// Methods with their nouns.
    methods: Vec<(String, syn::TraitItemFn)>,
    shapes: Vec<Signature>,
    /// Statements of which nothing is known, with their nouns and the one dialect that has each, if it is one.
    bare: Vec<(String, String, Option<Dialect>)>,
}

/// What an earlier run's file says of one statement.
struct Earlier {
    /// Its structs, and the enum of its orders with what that implements.
    types: Vec<syn::Item>,
    method: syn::TraitItemFn,
}

/// Finds for each statement the best thing to stand in for it.
pub(super) fn keep<'a>(config: &'a Config, unknown: &[Unknown], previous: Option<&str>) -> Stubs<'a> {
    let file = previous.filter(|_| !unknown.is_empty()).and_then(|text| syn::parse_file(text).ok());
    let mut items = file.map(|file| file.items).unwrap_or_default();
    for name in config.generate.modules() {
        let inside = items.into_iter().find_map(|item| match item {
            syn::Item::Mod(module) if plain(&module.ident) == name => module.content,
            _ => None,
        });
        items = inside.map(|(_, items)| items).unwrap_or_default();
    }
    let (types, methods, shapes, bare) = Default::default();
    let mut kept = Stubs { config, types, methods, shapes, bare };
    for statement in unknown {
        let earlier = earlier(&items, statement);
        match (earlier, &statement.shape) {
            (Some(earlier), Some(shape)) if !has_fields(&earlier, shape, statement.alone) => {
                kept.shape(statement, shape)
            }
            (Some(earlier), _) => {
                kept.types.entry(statement.noun.clone()).or_default().extend(earlier.types);
                kept.methods.push((statement.noun.clone(), earlier.method));
            }
            (None, Some(shape)) => kept.shape(statement, shape),
            (None, None) => {
                let single = match statement.dialects.as_slice() {
                    [dialect] => Some(*dialect),
                    _ => None,
                };
                kept.bare.push((statement.noun.clone(), statement.name.clone(), single));
            }
        }
    }
    kept
}

fn earlier(items: &[syn::Item], statement: &Unknown) -> Option<Earlier> {
    let method = items.iter().find_map(|item| match item {
        syn::Item::Trait(statements) if statements.ident.to_string().ends_with("Statements") => {
            statements.items.iter().find_map(|item| match item {
                syn::TraitItem::Fn(method) if plain(&method.sig.ident) == statement.name => Some(method.clone()),
                _ => None,
            })
        }
        _ => None,
    })?;
    // Its head names them: what it takes, what it takes lists of, and what it gives.
    let head = method.sig.to_token_stream().to_string();
    let wanted: Vec<&str> = head.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let order = enums::order_name(&statement.name);
    let types = items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Mod(module) if plain(&module.ident) == statement.noun => module.content.as_ref(),
            _ => None,
        })
        .flat_map(|(_, items)| items)
        .filter(|item| match item {
            syn::Item::Struct(item) => wanted.contains(&item.ident.to_string().as_str()),
            syn::Item::Enum(item) => item.ident == order,
            syn::Item::Impl(item) => {
                let of = |tokens: TokenStream| compact(tokens).split(['<', '>']).any(|word| word == order);
                of(item.self_ty.to_token_stream())
                    || item.trait_.as_ref().is_some_and(|(_, path, _)| of(path.to_token_stream()))
            }
            _ => false,
        });
    Some(Earlier { types: types.cloned().collect(), method })
}

/// Whether an earlier run's structs have the fields of today's; where one page alone speaks, they may have
/// more.
fn has_fields(earlier: &Earlier, shape: &Signature, alone: bool) -> bool {
    let of = |kind: &str| -> BTreeSet<String> {
        let item = earlier.types.iter().find_map(|item| match item {
            syn::Item::Struct(item) if item.ident.to_string().ends_with(kind) => Some(item),
            _ => None,
        });
        let fields = item.into_iter().flat_map(|item| item.fields.iter());
        fields.filter_map(|field| field.ident.as_ref().map(plain)).collect()
    };
    let named = |names: Vec<&str>| -> BTreeSet<String> {
        names.into_iter().map(|name| ident(name).trim_start_matches("r#").to_owned()).collect()
    };
    let fits = |earlier: BTreeSet<String>, today: BTreeSet<String>| {
        earlier == today || (alone && !today.is_empty() && earlier.is_superset(&today))
    };
    fits(of("Params"), named(keys::names(shape.params.iter())))
        && fits(of("Row"), named(keys::names(shape.columns.iter())))
}

impl Stubs<'_> {
    fn shape(&mut self, statement: &Unknown, shape: &Signature) {
        self.shapes.push(Signature { dialects: statement.dialects.clone(), ..shape.clone() });
    }

    /// Signatures that one page alone gave.
    pub(super) fn shapes(&self) -> impl Iterator<Item = &Signature> {
        self.shapes.iter()
    }

    /// The text of the kept types by module.
    pub(super) fn by_noun(&self) -> BTreeMap<String, String> {
        self.types.iter().map(|(noun, items)| (noun.clone(), formatted(quote!(#(#items)*)))).collect()
    }

    /// The methods as the trait declares them.
    pub(super) fn declarations(&self, code: &mut Code, noun: Option<&str>) {
        let methods = self.methods(noun);
        let bare = self.shared(noun).map(|name| {
            let head = self.bare_head(name);
            quote!(#[doc = " This statement has errors."] #head;)
        });
        members(code, quote!(#(#methods)* #(#bare)*));
    }

    /// The methods as a connection implements them.
    pub(super) fn definitions(&self, code: &mut Code, noun: Option<&str>) {
        let methods = self.methods(noun).map(|method| {
            let head = &method.sig;
            let is_stream = !head.output.to_token_stream().to_string().contains("impl");
            let body = tokens(if is_stream { BROKEN_STREAM } else { BROKEN });
            quote!(#[allow(unused_variables)] #head { #body })
        });
        let bare = self.shared(noun).map(|name| {
            let (head, body) = (self.bare_head(name), bare_body());
            quote!(#head { #body })
        });
        members(code, quote!(#(#methods)* #(#bare)*));
    }

    /// The statements with what they take and give, for their values.
    pub(super) fn values(&self) -> impl Iterator<Item = (String, String, String)> {
        self.methods.iter().filter_map(|(_, method)| {
            let output = given(&method.sig.output)?;
            let takes = method.sig.inputs.iter().find_map(|input| match input {
                syn::FnArg::Typed(input) => match &*input.ty {
                    syn::Type::Reference(taken) => Some(compact(taken.elem.to_token_stream())),
                    _ => None,
                },
                syn::FnArg::Receiver(_) => None,
            })?;
            Some((plain(&method.sig.ident), takes.replace("<'a>", "<'_>"), compact(output.to_token_stream())))
        })
    }

    /// The statements of which a dialect's module has functions.
    fn in_module(&self, dialect: Dialect) -> impl Iterator<Item = &str> {
        let is_pair = self.config.generate.driver == Driver::Pair;
        let is_own = move |single: &Option<Dialect>| single.map_or(is_pair, |single| single == dialect);
        self.bare.iter().filter(move |(.., single)| is_own(single)).map(|(_, name, _)| name.as_str())
    }

    /// The methods that are functions of such a module too.
    fn shared_methods(&self) -> impl Iterator<Item = &syn::TraitItemFn> {
        self.methods(None).filter(|_| self.config.generate.driver == Driver::Pair)
    }

    /// Whether a dialect's module has functions.
    pub(super) fn has_functions(&self, dialect: Dialect) -> bool {
        self.in_module(dialect).next().is_some() || self.shared_methods().next().is_some()
    }

    /// The functions of a dialect's module.
    pub(super) fn functions(&self, code: &mut Code, style: &structs::Style, dialect: Dialect) {
        let (word, connection) = of_module(self.config, dialect);
        let (seen, word, connection) = (tokens(&style.seen), tokens(word), tokens(connection));
        let error = tokens(error(self.config));
        let bare = self.in_module(dialect).map(|name| {
            let name = tokens(&ident(name));
            quote! {
                #[allow(unused_variables)]
                #seen #word #name<'a, P, R>(connection: &'a #connection, params: P) -> Result<R, #error> {
                    Err(diglot_support::broken())
                }
            }
        });
        let kept = self.shared_methods().filter_map(|method| {
            let (name, output) = (&method.sig.ident, given(&method.sig.output)?);
            let taken = method.sig.inputs.iter().skip(1);
            Some(quote! {
                #[allow(unused_variables)]
                #seen #word #name<'a>(connection: &'a #connection, #(#taken),*) -> Result<#output, #error> {
                    Err(diglot_support::broken())
                }
            })
        });
        let functions = bare.chain(kept);
        code.gap();
        code.block(&formatted(quote!(#(#functions)*)));
    }

    /// A method that takes anything and gives what its caller wants.
    fn bare_head(&self, name: &str) -> TokenStream {
        let (name, error) = (tokens(&ident(name)), tokens(error(self.config)));
        quote! {
            fn #name<'a, P: Send + 'a, R: Send + 'a>(
                &'a mut self,
                params: P,
            ) -> impl std::future::Future<Output = Result<R, #error>> + Send + 'a
        }
    }

    /// The nouns of what is kept in traits.
    pub(super) fn nouns(&self) -> impl Iterator<Item = String> {
        let bare = self.bare.iter().filter(|(.., single)| single.is_none()).map(|(noun, ..)| noun.clone());
        self.methods.iter().map(|(noun, _)| noun.clone()).chain(bare)
    }

    fn methods(&self, noun: Option<&str>) -> impl Iterator<Item = &syn::TraitItemFn> {
        self.methods.iter().filter(move |(of, _)| noun.is_none_or(|noun| noun == of)).map(|(_, method)| method)
    }

    fn shared(&self, noun: Option<&str>) -> impl Iterator<Item = &str> {
        let is_of = move |of: &str| noun.is_none_or(|noun| noun == of);
        let shared = self.bare.iter().filter(move |(of, _, single)| single.is_none() && is_of(of));
        shared.map(|(_, name, _)| name.as_str())
    }
}

/// What a method's future gives when nothing fails: `T` of `impl Future<Output = Result<T, sqlx::Error>>`.
fn given(output: &syn::ReturnType) -> Option<syn::Type> {
    let syn::ReturnType::Type(_, ty) = output else { return None };
    let syn::Type::ImplTrait(future) = &**ty else { return None };
    let bound = future.bounds.iter().find_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => bound.path.segments.last(),
        _ => None,
    })?;
    let result = arguments(bound).find_map(|argument| match argument {
        syn::GenericArgument::AssocType(named) if named.ident == "Output" => Some(&named.ty),
        _ => None,
    })?;
    let syn::Type::Path(result) = result else { return None };
    arguments(result.path.segments.last()?).find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}

/// What stands between the angle brackets of a name.
fn arguments(segment: &syn::PathSegment) -> impl Iterator<Item = &syn::GenericArgument> {
    let list = match &segment.arguments {
        syn::PathArguments::AngleBracketed(list) => Some(&list.args),
        _ => None,
    };
    list.into_iter().flatten()
}

fn bare_body() -> TokenStream {
    let body = tokens(BROKEN);
    quote!(let _ = params; #body)
}

/// Text of this module as tokens.
fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

/// Items as text.
fn formatted(items: TokenStream) -> String {
    match syn::parse2::<syn::File>(items.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        // Only a defect of this module leads here; rustc then says more about the text than syn would.
        Err(_) => items.to_string(),
    }
}

/// Writes members of a trait or of its implementation.
fn members(code: &mut Code, members: TokenStream) {
    if members.is_empty() {
        return;
    }
    let text = formatted(quote!(trait Members { #members }));
    let lines: Vec<&str> = text.lines().collect();
    code.gap();
    match lines.as_slice() {
        [_, inside @ .., _] => inside.iter().for_each(|line| code.block(line.strip_prefix("    ").unwrap_or(line))),
        _ => code.block(&text),
    }
}

fn plain(ident: &proc_macro2::Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or(text.clone(), str::to_owned)
}
