//! The trait, its implementations, and the functions of statements that one dialect alone has.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::{doc_line, ident};
use super::stubs::Kept;
use super::{Api, Function, feature, params, rows};
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

/// The trait that both connections implement.
pub(super) fn trait_items(api: &Api<'_>, bodies: &Bodies<'_>) -> TokenStream {
    let shared = api.functions.iter().filter(|function| is_shared(function.signature));
    let methods = shared.map(|function| {
        let (docs, head) = (docs(function.signature), head(function.signature));
        quote!(#docs #head;)
    });
    let kept = match bodies {
        Bodies::Real => TokenStream::new(),
        Bodies::Stubs(kept) => kept.declarations(),
    };
    let lints = super::lints();
    quote! {
        #[doc = " The statements that both databases have. Every method is one call to the database."]
        #lints
        pub trait Statements: Send { #(#methods)* #kept }
    }
}

/// One connection's implementation of the trait.
pub(super) fn implementation(api: &Api<'_>, dialect: Dialect, bodies: &Bodies<'_>) -> TokenStream {
    let shared = api.functions.iter().filter(|function| is_shared(function.signature));
    let methods = shared.map(|function| {
        let head = match (bodies, function.signature.cardinality) {
            (Bodies::Real, cardinality) if cardinality != Cardinality::Stream => async_head(function.signature),
            _ => head(function.signature),
        };
        let body = match bodies {
            Bodies::Real => body(function, dialect, &quote!(&mut *self)),
            Bodies::Stubs(_) => stub(function.signature),
        };
        quote!(#head { #body })
    });
    let kept = match bodies {
        Bodies::Real => TokenStream::new(),
        Bodies::Stubs(kept) => kept.definitions(),
    };
    let (feature, connection) = (feature(api.config, dialect), connection(dialect));
    let lints = super::lints();
    quote! {
        #feature
        #lints
        impl Statements for #connection { #(#methods)* #kept }
    }
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
    let connection = connection(dialect);
    let functions = own.iter().map(|function| {
        let signature = function.signature;
        let (name, docs, output) = (ident(&signature.name), docs(signature), output(signature));
        let params = params::path(signature).map(|path| quote!(, params: &'a #path));
        let body = match bodies {
            Bodies::Real => body(function, dialect, &quote!(&mut *connection)),
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
            Cardinality::Stream => quote!(#docs pub fn #name #open -> #output { #body }),
            _ => quote!(#docs pub async fn #name #open -> #output { #body }),
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
        pub mod #module {
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
    let named: std::collections::BTreeSet<&str> = with_structs
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
fn head(signature: &Signature) -> TokenStream {
    let (name, output) = (ident(&signature.name), output(signature));
    let params = params::path(signature).map(|path| quote!(, params: &'a #path));
    match signature.cardinality {
        Cardinality::Stream => quote!(fn #name<'a>(&'a mut self #params) -> #output),
        _ => quote! {
            fn #name<'a>(&'a mut self #params) -> impl std::future::Future<Output = #output> + Send + 'a
        },
    }
}

fn async_head(signature: &Signature) -> TokenStream {
    let (name, output) = (ident(&signature.name), output(signature));
    let params = params::path(signature).map(|path| quote!(, params: &'a #path));
    quote!(async fn #name<'a>(&'a mut self #params) -> #output)
}

fn stub(signature: &Signature) -> TokenStream {
    let params = (!signature.params.is_empty()).then(|| quote!(let _ = params;));
    match signature.cardinality {
        Cardinality::Stream => quote! { #params unimplemented!() },
        _ => quote! { #params std::future::ready(Err(diglot_support::broken())) },
    }
}

fn body(function: &Function<'_>, dialect: Dialect, connection: &TokenStream) -> TokenStream {
    let signature = function.signature;
    let texts: Vec<&EmittedText> = function.texts.iter().filter(|text| text.dialect == dialect).copied().collect();
    let Some(first) = texts.first() else { return TokenStream::new() };
    let statement = format!("{}.{}", first.noun, first.name);
    let columns: Vec<&str> = signature.columns.iter().map(|column| column.name.as_str()).collect();
    let conversion = rows::conversion(dialect, signature);
    let named = quote!(|error| diglot_support::named(error, &[#(#columns),*]));
    // All rows are read, even where one is wanted: a unit's later statements run only when they are asked
    // for, and a row too many is an error rather than a silent choice.
    let all = |text: &EmittedText| call(signature, text, true, &quote!(.fetch_all(#connection).await.map_err(#named)?));
    let done = |text: &EmittedText| call(signature, text, false, &quote!(.execute(#connection).await?));
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
                let records = call(signature, text, true, &quote!(.fetch(#connection)));
                quote! {{
                    let records = #records;
                    Box::pin(futures_util::StreamExt::map(records, |record| row(record.map_err(#named)?)))
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
fn call(signature: &Signature, text: &EmittedText, rows: bool, end: &TokenStream) -> TokenStream {
    let sql = &text.sql;
    let binds = text
        .params
        .iter()
        .filter_map(|used| signature.params.iter().find(|param| param.name == used.name))
        .map(|param| params::bind(text.dialect, param))
        .chain(std::iter::repeat_n(quote!(None::<i64>), text.spare));
    match rows {
        true => quote!(sqlx::query_as!(Record, #sql #(, #binds)*)#end),
        false => quote!(sqlx::query!(#sql #(, #binds)*)#end),
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
