//! What another crate can reach, as a skeleton without bodies: a change of it shows in the review of a snapshot,
//! where it is weighed against the promise in `docs/stability.md`.
//!
//! Implementations of traits are left out, but for those that are derived; what a macro declares shows only where it
//! is exported.

use std::collections::BTreeMap;
use std::path::Path;

use quote::ToTokens as _;
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, UseTree, Visibility, parse_quote};

/// A module with what is in its file, and the modules below it.
#[derive(Default)]
struct Module {
    items: Vec<Item>,
    below: BTreeMap<String, Module>,
}

impl Module {
    /// Reads a file; its modules are in the given folder.
    fn read(file: &Path, folder: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).expect("the sources are Rust");
        Self::of(parsed.items, folder)
    }

    fn of(items: Vec<Item>, folder: &Path) -> Self {
        let mut module = Self::default();
        for item in items {
            if let Item::Mod(below) = &item
                && !is_test(&below.attrs)
            {
                let name = below.ident.to_string();
                let inner = folder.join(&name);
                let read = match &below.content {
                    Some((_, items)) => Self::of(items.clone(), &inner),
                    None => {
                        let beside = folder.join(format!("{name}.rs"));
                        Self::read(&if beside.exists() { beside } else { inner.join("mod.rs") }, &inner)
                    }
                };
                module.below.insert(name, read);
            }
            module.items.push(item);
        }
        module
    }

    /// The item of that name here or in what is re-exported here.
    fn find(&self, root: &Module, path: &[String]) -> Vec<Item> {
        match path {
            [first, rest @ ..] if first == "crate" => root.find(root, rest),
            [first, rest @ ..] if !rest.is_empty() => {
                self.below.get(first).map(|below| below.find(root, rest)).unwrap_or_default()
            }
            [name] => {
                let here: Vec<Item> =
                    self.items.iter().filter(|item| named(item).as_ref() == Some(name)).cloned().collect();
                if !here.is_empty() {
                    return here;
                }
                let exported = self.items.iter().filter_map(|item| match item {
                    Item::Use(used) => leaves(&used.tree, &[]).into_iter().find(|leaf| &leaf.as_name == name),
                    _ => None,
                });
                exported.map(|leaf| self.find(root, &leaf.path)).next().unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// The public methods of a type, wherever below this module they are written.
    fn methods(&self, of: &str) -> Vec<ImplItem> {
        let here = self.items.iter().filter_map(|item| match item {
            Item::Impl(ItemImpl { trait_: None, self_ty, items, attrs, .. })
                if !is_test(attrs) && last_name(self_ty.to_token_stream()) == of =>
            {
                Some(items)
            }
            _ => None,
        });
        let mut methods: Vec<ImplItem> = here.flatten().filter_map(method).collect();
        methods.extend(self.below.values().flat_map(|below| below.methods(of)));
        methods
    }

    /// What can be reached of this module; `scope` is the top module that it belongs to.
    fn reachable(&self, root: &Module, scope: &Module) -> Vec<Item> {
        let mut shown = Vec::new();
        for item in &self.items {
            match item {
                Item::Mod(below) if is_public(&below.vis) && !is_hidden(&below.attrs) => {
                    let name = below.ident.to_string();
                    let Some(module) = self.below.get(&name) else { continue };
                    let scope = if std::ptr::eq(self, root) { module } else { scope };
                    let (ident, items) = (&below.ident, module.reachable(root, scope));
                    shown.push(parse_quote!(pub mod #ident { #(#items)* }));
                }
                Item::Use(used) if is_public(&used.vis) => {
                    for leaf in leaves(&used.tree, &[]) {
                        let top = match leaf.path.as_slice() {
                            [first, top, ..] if first == "crate" => root.below.get(top),
                            [top, ..] => self.below.get(top),
                            [] => None,
                        };
                        let scope = top.unwrap_or(scope);
                        let found = self.find(root, &leaf.path);
                        shown.extend(found.iter().flat_map(|item| skeleton(item, scope)));
                        if found.is_empty() {
                            let path = leaf.path.join("::");
                            let path: syn::Path = syn::parse_str(&path).expect("a path");
                            shown.push(parse_quote!(pub use #path;));
                        }
                    }
                }
                item => shown.extend(skeleton(item, scope)),
            }
        }
        shown
    }
}

/// A name that a `use` brings.
struct Leaf {
    path: Vec<String>,
    as_name: String,
}

fn leaves(tree: &UseTree, before: &[String]) -> Vec<Leaf> {
    let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<String>>();
    match tree {
        UseTree::Path(path) if path.ident == "self" => leaves(&path.tree, before),
        UseTree::Path(path) => leaves(&path.tree, &with(&path.ident)),
        UseTree::Name(name) => vec![Leaf { path: with(&name.ident), as_name: name.ident.to_string() }],
        UseTree::Rename(name) => vec![Leaf { path: with(&name.ident), as_name: name.rename.to_string() }],
        UseTree::Group(group) => group.items.iter().flat_map(|tree| leaves(tree, before)).collect(),
        UseTree::Glob(_) => panic!("a glob hides what is public"),
    }
}

/// The item without bodies, private parts and comments, and the methods of a type behind it; nothing when it is not
/// public.
fn skeleton(item: &Item, scope: &Module) -> Vec<Item> {
    let mut shown = item.clone();
    let typed = match &mut shown {
        Item::Fn(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
            item.attrs.retain(is_promised);
            *item.block = parse_quote!({});
            None
        }
        Item::Const(item) if is_public(&item.vis) => {
            item.attrs.clear();
            *item.expr = parse_quote!(..);
            None
        }
        Item::Static(item) if is_public(&item.vis) => {
            item.attrs.clear();
            *item.expr = parse_quote!(..);
            None
        }
        Item::Type(item) if is_public(&item.vis) => {
            item.attrs.clear();
            None
        }
        Item::Trait(item) if is_public(&item.vis) => {
            item.attrs.retain(is_promised);
            for inner in &mut item.items {
                if let syn::TraitItem::Fn(inner) = inner {
                    inner.attrs.clear();
                    inner.default = inner.default.as_ref().map(|_| parse_quote!({}));
                }
            }
            None
        }
        Item::Struct(item) if is_public(&item.vis) => {
            item.attrs.retain(is_promised);
            strip(&mut item.fields);
            Some(item.ident.clone())
        }
        Item::Enum(item) if is_public(&item.vis) => {
            item.attrs.retain(is_promised);
            for variant in &mut item.variants {
                variant.attrs.clear();
                variant.fields.iter_mut().for_each(|field| field.attrs.clear());
            }
            Some(item.ident.clone())
        }
        _ => return Vec::new(),
    };
    let methods = typed.as_ref().map(|name| scope.methods(&name.to_string())).unwrap_or_default();
    let mut all = vec![shown];
    if let Some(name) = typed.filter(|_| !methods.is_empty()) {
        all.push(parse_quote!(impl #name { #(#methods)* }));
    }
    all
}

/// Leaves the public fields.
fn strip(fields: &mut Fields) {
    if let Fields::Named(named) = fields {
        named.named = named.named.iter().filter(|field| is_public(&field.vis)).cloned().collect();
    }
    fields.iter_mut().for_each(|field| field.attrs.clear());
}

fn method(item: &ImplItem) -> Option<ImplItem> {
    match item {
        ImplItem::Fn(item) if is_public(&item.vis) && !is_hidden(&item.attrs) && !is_test(&item.attrs) => {
            let mut item = item.clone();
            item.attrs.retain(is_promised);
            item.block = parse_quote!({});
            Some(item.into())
        }
        ImplItem::Const(item) if is_public(&item.vis) => {
            let mut item = item.clone();
            item.attrs.clear();
            item.expr = parse_quote!(..);
            Some(item.into())
        }
        _ => None,
    }
}

fn named(item: &Item) -> Option<String> {
    Some(match item {
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Const(item) => item.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// The name of a type without its path and arguments.
fn last_name(tokens: proc_macro2::TokenStream) -> String {
    let text = tokens.to_string();
    let path = text.split('<').next().unwrap_or(&text);
    path.rsplit("::").next().unwrap_or(path).trim().to_owned()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Attributes that a caller can notice.
fn is_promised(attribute: &Attribute) -> bool {
    ["derive", "must_use", "non_exhaustive"].iter().any(|name| attribute.path().is_ident(name))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("doc") && attribute.to_token_stream().to_string().contains("hidden"))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("test"))
}

#[test]
fn the_public_names_are_the_reviewed_ones() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = Module::read(&src.join("lib.rs"), &src);
    let items = root.reachable(&root, &root);
    let text = prettyplease::unparse(&syn::File { shebang: None, attrs: Vec::new(), items });
    insta::assert_snapshot!("api", text);
}
