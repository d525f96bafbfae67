//! The trait, its implementations, and the functions of statements that one dialect alone has.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

use super::names::{camel, doc_line, ident};
use super::stubs::Kept;
use super::{Api, Function, feature, params, rows, structs};
use crate::config::{Config, Queries, Traits};
use crate::dialect::Dialect;
use crate::infer::Signature;
use crate::page::Cardinality;
use crate::pipeline::EmittedText;

/// What stands in the functions.
pub(super) enum Bodies<'a> {
    /// Calls of the driver.
    Real,
    /// Errors at once; statements without a signature keep what an earlier run knew of them.
    Stubs(&'a Kept),
}

/// The traits: their names, with the noun of those that have one.
fn traits(api: &Api<'_>, bodies: &Bodies<'_>) -> Vec<(proc_macro2::Ident, Option<String>)> {
    if api.config.generate.traits == Traits::One {
        return vec![(ident("Statements"), None)];
    }
    let shared = api.functions.iter().filter(|function| is_shared(function.signature));
    let mut nouns: BTreeSet<String> = shared.map(|function| function.signature.noun.clone()).collect();
    if let Bodies::Stubs(kept) = bodies {
        nouns.extend(kept.nouns());
    }
    nouns.into_iter().map(|noun| (ident(&format!("{}Statements", camel(&noun))), Some(noun))).collect()
}

/// The functions of a trait.
fn of_trait<'f>(api: &'f Api<'f>, noun: Option<&'f str>) -> impl Iterator<Item = &'f Function<'f>> {
    let is_of = move |function: &&Function<'_>| noun.is_none_or(|noun| function.signature.noun == noun);
    api.functions.iter().filter(|function| is_shared(function.signature)).filter(is_of)
}

/// The traits that both connections implement.
pub(super) fn trait_items(api: &Api<'_>, bodies: &Bodies<'_>) -> TokenStream {
    let (seen, lints) = (structs::visibility(&api.config.generate), super::lints());
    let traits = traits(api, bodies).into_iter().map(|(name, noun)| {
        let methods = of_trait(api, noun.as_deref()).map(|function| {
            let (docs, head) = (docs(function.signature), head(api.config, function.signature));
            quote!(#docs #head;)
        });
        let kept = match bodies {
            Bodies::Real => TokenStream::new(),
            Bodies::Stubs(kept) => kept.declarations(noun.as_deref()),
        };
        let which = noun.as_ref().map_or_else(String::new, |noun| format!(" of `{}`", doc_line(noun)));
        let doc = format!(" The statements{which} that both databases have. Every method is one call to the database.");
        quote! {
            #[doc = #doc]
            #lints
            #seen trait #name: Send { #(#methods)* #kept }
        }
    });
    quote!(#(#traits)*)
}

/// One connection's implementations of the traits.
pub(super) fn implementation(api: &Api<'_>, dialect: Dialect, bodies: &Bodies<'_>) -> TokenStream {
    let (feature, connection, lints) = (feature(api.config, dialect), connection(dialect), super::lints());
    let traits = traits(api, bodies).into_iter().map(|(name, noun)| {
        let methods = of_trait(api, noun.as_deref()).map(|function| {
            let head = match (bodies, function.signature.cardinality) {
                (Bodies::Real, cardinality) if cardinality != Cardinality::Stream => {
                    async_head(api.config, function.signature)
                }
                _ => head(api.config, function.signature),
            };
            let body = match bodies {
                Bodies::Real => body(api.config, function, dialect, &quote!(&mut *self)),
                Bodies::Stubs(_) => stub(function.signature),
            };
            quote!(#head { #body })
        });
        let kept = match bodies {
            Bodies::Real => TokenStream::new(),
            Bodies::Stubs(kept) => kept.definitions(noun.as_deref()),
        };
        quote! {
            #feature
            #lints
            impl #name for #connection { #(#methods)* #kept }
        }
    });
    quote!(#(#traits)*)
}

/// The module of statements that a dialect alone has.
pub(super) fn single(api: &Api<'_>, dialect: Dialect, bodies: &Bodies<'_>) -> Option<TokenStream> {
    let own: Vec<&Function<'_>> =
        api.functions.iter().filter(|function| function.signature.dialects == [dialect]).collect();
    let kept = match bodies {
        Bodies::Real => TokenStream::new(),
        Bodies::Stubs(kept) => kept.single(dialect),
    };
    if own.is_empty() && kept.is_empty() {
        return None;
    }
    let (connection, seen) = (connection(dialect), structs::visibility(&api.config.generate));
    let functions = own.iter().map(|function| {
        let (config, signature) = (api.config, function.signature);
        let (name, docs, output) = (ident(&signature.name), docs(signature), output(signature));
        let params = params::path(config, signature).map(|path| quote!(, params: &'a #path));
        let body = match bodies {
            Bodies::Real => body(config, function, dialect, &quote!(&mut *connection)),
            Bodies::Stubs(_) => {
                let stub = stub(signature);
                if signature.cardinality == Cardinality::Stream {
                    stub
                } else {
                    quote!(let _ = connection; #stub.await)
                }
            }
        };
        let open = quote!(<'a>(connection: &'a mut #connection #params));
        match signature.cardinality {
            Cardinality::Stream => quote!(#docs #seen fn #name #open -> #output { #body }),
            _ => quote!(#docs #seen async fn #name #open -> #output { #body }),
        }
    });
    let module = ident(&format!("{}_only", dialect.word()));
    let doc = format!(" Statements that {} alone has.", dialect.title());
    let nouns = nouns(&own);
    let (feature, lints) = (feature(api.config, dialect), super::lints());
    Some(quote! {
        #[doc = #doc]
        #feature
        #lints
        #seen mod #module {
            #[allow(unused_imports)]
            use super::{diglot_support #(, #nouns)*};
            #(#functions)*
            #kept
        }
    })
}

/// The modules of structs that these functions name.
fn nouns(functions: &[&Function<'_>]) -> Vec<proc_macro2::Ident> {
    let with_structs = functions.iter().map(|function| function.signature);
    let named: BTreeSet<&str> = with_structs
        .filter(|signature| !signature.params.is_empty() || !signature.columns.is_empty())
        .map(|signature| signature.noun.as_str())
        .collect();
    named.into_iter().map(ident).collect()
}

pub(super) fn is_shared(signature: &Signature) -> bool {
    signature.dialects.len() > 1
}

fn connection(dialect: Dialect) -> TokenStream {
    match dialect {
        Dialect::Sqlite => quote!(sqlx::SqliteConnection),
        Dialect::Pg => quote!(sqlx::PgConnection),
    }
}

fn docs(signature: &Signature) -> TokenStream {
    let written = signature.docs.iter().map(|line| doc_line(line));
    let lines: Vec<String> = if signature.docs.is_empty() {
        vec![format!(" The statement `{}`.", signature.name)]
    } else {
        written.map(|line| if line.is_empty() { line } else { format!(" {line}") }).collect()
    };
    quote!(#(#[doc = #lines])*)
}

/// What a function gives.
fn output(signature: &Signature) -> TokenStream {
    let row = rows::path(signature).unwrap_or_else(|| quote!(()));
    let inner = match signature.cardinality {
        Cardinality::One => row,
        Cardinality::Opt => quote!(Option<#row>),
        Cardinality::Many => quote!(Vec<#row>),
        Cardinality::Exec => quote!(()),
        Cardinality::Rows => quote!(u64),
        Cardinality::Stream => {
            return quote!(futures_core::stream::BoxStream<'a, Result<#row, sqlx::Error>>);
        }
    };
    quote!(Result<#inner, sqlx::Error>)
}

/// The method as the trait declares it: its future can be sent, which `async fn` could not promise there.
fn head(config: &Config, signature: &Signature) -> TokenStream {
    let (name, output) = (ident(&signature.name), output(signature));
    let params = params::path(config, signature).map(|path| quote!(, params: &'a #path));
    match signature.cardinality {
        Cardinality::Stream => quote!(fn #name<'a>(&'a mut self #params) -> #output),
        _ => quote! {
            fn #name<'a>(&'a mut self #params) -> impl std::future::Future<Output = #output> + Send + 'a
        },
    }
}

fn async_head(config: &Config, signature: &Signature) -> TokenStream {
    let (name, output) = (ident(&signature.name), output(signature));
    let params = params::path(config, signature).map(|path| quote!(, params: &'a #path));
    quote!(async fn #name<'a>(&'a mut self #params) -> #output)
}

fn stub(signature: &Signature) -> TokenStream {
    let params = (!signature.params.is_empty()).then(|| quote!(let _ = params;));
    match signature.cardinality {
        Cardinality::Stream => quote! { #params unimplemented!() },
        _ => quote! { #params std::future::ready(Err(diglot_support::broken())) },
    }
}

fn body(config: &Config, function: &Function<'_>, dialect: Dialect, connection: &TokenStream) -> TokenStream {
    let signature = function.signature;
    let texts: Vec<&EmittedText> = function.texts.iter().filter(|text| text.dialect == dialect).copied().collect();
    let Some(first) = texts.first() else { return TokenStream::new() };
    let statement = format!("{}.{}", first.noun, first.name);
    let columns: Vec<&str> = signature.columns.iter().map(|column| column.name.as_str()).collect();
    let conversion = rows::conversion(config, dialect, signature);
    let named = quote!(|error| diglot_support::named(error, &[#(#columns),*]));
    // All rows are read, even where one is wanted: a unit's later statements run only when they are asked
    // for, and a row too many is an error rather than a silent choice.
    let plain = config.generate.queries == Queries::Plain;
    let all = |text: &EmittedText| {
        let call = call(config, signature, text, true, &quote!(.fetch_all(#connection).await.map_err(#named)?));
        if plain { quote!(#call.iter().map(record).collect::<Result<Vec<_>, _>>()?) } else { call }
    };
    let done = |text: &EmittedText| call(config, signature, text, false, &quote!(.execute(#connection).await?));
    match signature.cardinality {
        Cardinality::One => {
            let rows = chosen(signature, &texts, all);
            quote! {
                #conversion
                let rows = #rows;
                row(diglot_support::exactly_one(#statement, rows)?)
            }
        }
        Cardinality::Opt => {
            let rows = chosen(signature, &texts, all);
            quote! {
                #conversion
                let rows = #rows;
                diglot_support::at_most_one(#statement, rows)?.map(row).transpose()
            }
        }
        Cardinality::Many => {
            let rows = chosen(signature, &texts, all);
            quote! {
                #conversion
                let rows = #rows;
                rows.into_iter().map(row).collect()
            }
        }
        Cardinality::Exec => {
            let done = chosen(signature, &texts, done);
            quote! {
                #done;
                Ok(())
            }
        }
        Cardinality::Rows => {
            let done = chosen(signature, &texts, done);
            quote! {
                let done = #done;
                Ok(done.rows_affected())
            }
        }
        Cardinality::Stream => {
            let streams = chosen(signature, &texts, |text| {
                let records = call(config, signature, text, true, &quote!(.fetch(#connection)));
                let read = match plain {
                    true => quote!(|found| row(record(&found.map_err(#named)?)?)),
                    false => quote!(|record| row(record.map_err(#named)?)),
                };
                quote! {{
                    let records = #records;
                    Box::pin(futures_util::StreamExt::map(records, #read))
                }}
            });
            quote! {
                #conversion
                #streams
            }
        }
    }
}

/// One call of the driver: the text with what it binds.
fn call(config: &Config, signature: &Signature, text: &EmittedText, rows: bool, end: &TokenStream) -> TokenStream {
    let sql = &text.sql;
    let binds = text
        .params
        .iter()
        .filter_map(|used| signature.params.iter().find(|param| param.name == used.name))
        .map(|param| params::bind(config, text.dialect, param))
        .chain(std::iter::repeat_n(quote!(None::<i64>), text.spare));
    match (config.generate.queries, rows) {
        (Queries::Macros, true) => quote!(sqlx::query_as!(Record, #sql #(, #binds)*)#end),
        (Queries::Macros, false) => quote!(sqlx::query!(#sql #(, #binds)*)#end),
        (Queries::Plain, _) => quote!(sqlx::query(#sql)#(.bind(#binds))*#end),
    }
}

/// The text of the only variant, or the choice between variants by the parameters that are given.
fn chosen(signature: &Signature, texts: &[&EmittedText], of_text: impl Fn(&EmittedText) -> TokenStream) -> TokenStream {
    let optional: Vec<&str> =
        signature.params.iter().filter(|param| param.optional).map(|param| param.name.as_str()).collect();
    if let ([], [text, ..]) = (optional.as_slice(), texts) {
        return of_text(text);
    }
    let fields = optional.iter().map(|name| {
        let field = ident(name);
        quote!(&params.#field)
    });
    let arms = texts.iter().map(|text| {
        let patterns = optional.iter().map(|name| {
            if text.variant.given.iter().any(|given| given == name) {
                let given = params::given(name);
                quote!(Some(#given))
            } else {
                quote!(None)
            }
        });
        let value = of_text(text);
        quote!((#(#patterns,)*) => #value)
    });
    quote!(match (#(#fields,)*) { #(#arms,)* })
}
