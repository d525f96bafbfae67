//! Parameter structs, and how their fields are bound.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::code::Code;
use super::{keys, page, structs, times, types};
use crate::config::{Config, Ownership};
use crate::dialect::Dialect;
use crate::infer::{Param, Signature};
use crate::names::{camel, ident};
use crate::types::{Base, Type};

/// The struct that holds the parameters of a statement; nothing for a statement without any.
pub(super) fn definition(code: &mut Code, style: &structs::Style, config: &Config, signature: &Signature) {
    if signature.params.is_empty() {
        return;
    }
    let doc = |param: &Param| match param.optional {
        _ if param.of_key().is_some() => {
            "The key behind which the page begins; without it it is the first one.".to_owned()
        }
        _ if param.is_choice() => "The order of the rows.".to_owned(),
        true => format!("`:{}`, {}; without it its condition is left out.", param.name, param.ty),
        false => format!("`:{}`, {}.", param.name, param.ty),
    };
    let of = format!("Parameters of `{}`.", signature.name);
    let name = format!("{}Params", camel(&signature.name));
    // A key is one field, whatever it is made of.
    let mut keys = BTreeSet::new();
    let is_field = |param: &&Param| param.of_key().is_none_or(|(key, _)| keys.insert(key.to_owned()));
    let params: Vec<Param> = signature.params.iter().filter(is_field).cloned().collect();
    let fields = keys::fields(config, keys::is_borrowed(config), params.iter(), |param| match param.of_key() {
        Some((key, _)) => {
            structs::Field { name: key, doc: doc(param), ty: format!("Option<{}>", page::name(signature)) }
        }
        None => structs::Field { name: &param.name, doc: doc(param), ty: field(config, param) },
    });
    structs::documented(code, style, &name, borrows(config, &params), &of, fields.into_iter());
}

/// A struct of values that are bound.
pub(super) fn holding(
    code: &mut Code,
    style: &structs::Style,
    config: &Config,
    (name, of): (&str, &str),
    params: &[Param],
    doc: impl Fn(&Param) -> String,
) {
    let fields = keys::fields(config, keys::is_borrowed(config), params.iter(), |param| structs::Field {
        name: &param.name,
        doc: doc(param),
        ty: field(config, param),
    });
    structs::documented(code, style, name, borrows(config, params), of, fields.into_iter());
}

/// The path of the struct from the file's top, if there is one.
pub(super) fn path(config: &Config, signature: &Signature) -> Option<String> {
    let lifetime = if borrows(config, &signature.params) { "<'a>" } else { "" };
    let path = || format!("{}::{}Params{lifetime}", ident(&signature.noun), camel(&signature.name));
    (!signature.params.is_empty()).then(path)
}

/// Whether a struct of these values borrows.
pub(super) fn borrows(config: &Config, params: &[Param]) -> bool {
    params.iter().any(|param| is_borrowed(config, param) || param.within.is_some() && keys::is_borrowed(config))
}

/// Whether a field borrows its value. What a key holds is the key's own.
pub(super) fn is_borrowed(config: &Config, param: &Param) -> bool {
    let is_whole = param.of_key().is_none() && param.within.is_none();
    let may_borrow = config.generate.params == Ownership::Borrowed && is_whole;
    may_borrow && (param.rust.is_some() || !is_copied(&param.ty.base))
}

/// The type of a parameter's field from the file's top.
pub(super) fn field_at_top(config: &Config, param: &Param) -> String {
    field(config, param).replace("super::", "")
}

fn field(config: &Config, param: &Param) -> String {
    let nullable = param.ty.nullable || param.optional;
    let rust = types::in_noun(config, param.rust.as_deref());
    if !is_borrowed(config, param) {
        return types::field(config.libraries(), &param.ty.base, nullable, rust.as_deref());
    }
    let newtype = types::newtype(rust.as_deref());
    let inner = match (&newtype, &param.ty.base) {
        (Some(newtype), base) if base.is_list() => &Cow::Owned(format!("[{newtype}]")),
        (Some(newtype), _) => newtype,
        (None, Base::Text) => &Cow::Borrowed("str"),
        (None, Base::Bytes) => &Cow::Borrowed("[u8]"),
        (None, Base::TextArray) => &Cow::Borrowed("[String]"),
        (None, Base::Int64Array) => &Cow::Borrowed("[i64]"),
        (None, Base::UuidArray) => &Cow::Borrowed("[uuid::Uuid]"),
        (None, base) => &types::plain(config.libraries(), base),
    };
    if nullable { format!("Option<&'p {inner}>") } else { format!("&'p {inner}") }
}

/// The value of an optional parameter inside the arm of its variants.
pub(super) fn given(param: &str) -> String {
    ident(&format!("given_{param}")).into_owned()
}

/// The expression that binds a parameter, or a field, of what is called `owner`. Large values are borrowed; a newtype
/// is cloned to be turned into its plain form.
pub(super) fn bind(config: &Config, dialect: Dialect, digits: bool, (owner, param): (&str, &Param)) -> String {
    let value = match (param.of_key(), param.optional) {
        (Some((key, field)), _) => format!("{}.{}", given(key), ident(field)),
        (None, true) => format!("(*{})", given(&param.name)),
        (None, false) => keys::place(owner, param),
    };
    let is_borrowed = is_borrowed(config, param);
    if param.rust.as_ref().is_some_and(|rust| config.generated_words(rust).is_some()) {
        return match param.ty.base.is_list() {
            true => super::enums::bound_words(config, dialect, &value, is_borrowed, param.ty.nullable),
            false => super::enums::bound_word(&value, is_borrowed, param.ty.nullable),
        };
    }
    if let Some(bound) = time(config, dialect, param, is_borrowed, &value) {
        return bound;
    }
    if param.rust.is_some() && param.ty.base.is_list() {
        return items(config, dialect, digits, is_borrowed, param, &value);
    }
    match types::newtype(param.rust.as_deref()) {
        Some(_) => converted(config, dialect, param, is_borrowed, &value),
        None if is_borrowed && param.optional => {
            as_it_is(dialect, &param.ty, digits, format!("*{}", given(&param.name)))
        }
        None if is_borrowed => as_it_is(dialect, &param.ty, digits, value),
        None if param.optional && param.of_key().is_none() && is_copied(&param.ty.base) => {
            format!("*{}", given(&param.name))
        }
        None => borrowed(dialect, &param.ty, digits, value),
    }
}

/// A time, a decimal or a word in the form in which its database gets it; none where it is bound as other values are.
fn time(config: &Config, dialect: Dialect, param: &Param, is_borrowed: bool, value: &str) -> Option<String> {
    let is_newtype = types::newtype(param.rust.as_deref()).is_some();
    let plain = types::callable(config.libraries(), &param.ty.base);
    let one = if is_newtype { format!("{plain}::from(value)") } else { "value".to_owned() };
    let all = match &param.ty.base {
        Base::Enum(_) => super::enums::bound(dialect, &one),
        _ => times::bound(config, dialect, param, &one)?,
    };
    let owned = owned(param, is_borrowed, value);
    let as_any = if matches!(param.ty.base, Base::Enum(_)) { super::enums::as_any(config, dialect) } else { "" };
    Some(match param.ty.nullable {
        true => format!("{owned}.map(|value| {all})") + as_any,
        false => format!("{{ let value = {owned}; {all} }}") + as_any,
    })
}

fn owned(param: &Param, is_borrowed: bool, value: &str) -> String {
    match (is_borrowed, param.ty.nullable) {
        (false, _) => format!("{value}.clone()"),
        (true, false) => format!("(*{value}).clone()"),
        (true, true) => format!("{value}.cloned()"),
    }
}

fn converted(config: &Config, dialect: Dialect, param: &Param, is_borrowed: bool, value: &str) -> String {
    let plain = types::callable(config.libraries(), &param.ty.base);
    let is_text = dialect == Dialect::Sqlite && param.ty.base == Base::Json;
    let owned = owned(param, is_borrowed, value);
    match (param.ty.nullable, is_text) {
        (false, false) => format!("{plain}::from({owned})"),
        (true, false) => format!("{owned}.map({plain}::from)"),
        (false, true) => format!("{plain}::from({owned}).to_string()"),
        (true, true) => format!("{owned}.map(|value| {plain}::from(value).to_string())"),
    }
}

/// What the generated module of conversions needs for lists of Rust types of their own.
pub(super) const ITEMS: &str = r#"/// The items of a list as a driver takes them: what `P` holds in the width of `W`.
pub(super) fn items<P: From<T>, W: From<P>, T: Clone>(list: &[T]) -> Vec<W> {
    list.iter().cloned().map(|item| W::from(P::from(item))).collect()
}
"#;

/// Whether a parameter is a list of a Rust type that the project has.
pub(super) fn is_list_of_own(config: &Config, param: &Param) -> bool {
    param.ty.base.is_list() && param.rust.as_ref().is_some_and(|rust| config.generated_words(rust).is_none())
}

/// The expression that binds a list of values that are turned into their plain form.
fn items(config: &Config, dialect: Dialect, digits: bool, is_borrowed: bool, param: &Param, value: &str) -> String {
    let plain = |base: &Base| types::plain(config.libraries(), base).into_owned();
    let wide = match param.ty.base {
        Base::Int64Array => Base::Int64,
        Base::UuidArray => Base::Uuid,
        _ => Base::Text,
    };
    let (held, wide) = (plain(param.element.as_ref().unwrap_or(&wide)), plain(&wide));
    let all = |list: &str| {
        let items = format!("diglot_support::items::<{held}, {wide}, _>({list})");
        match dialect {
            Dialect::Sqlite => format!("{}(&{items})", self::list(&param.ty.base, digits)),
            Dialect::Pg => items,
        }
    };
    let bound = match (param.ty.nullable, is_borrowed) {
        (false, false) => all(&format!("&{value}")),
        (false, true) => all(value),
        (true, false) => format!("{value}.as_deref().map(|list| {})", all("list")),
        (true, true) => format!("{value}.map(|list| {})", all("list")),
    };
    bound + super::enums::as_any(config, dialect)
}

/// The expression that binds a value that the struct has borrowed.
fn as_it_is(dialect: Dialect, ty: &Type, digits: bool, value: String) -> String {
    let to_text = match (dialect, &ty.base) {
        (Dialect::Sqlite, Base::Json) => "ToString::to_string",
        (Dialect::Sqlite, base) if base.is_list() => list(base, digits),
        _ => return value,
    };
    if ty.nullable { format!("{value}.map({to_text})") } else { format!("{to_text}({value})") }
}

/// The function that makes the JSON array of a list.
fn list(base: &Base, digits: bool) -> &'static str {
    match base {
        Base::TextArray => "diglot_support::texts",
        Base::Int64Array => "diglot_support::integers",
        _ if digits => "diglot_support::digits",
        _ => "diglot_support::uuids",
    }
}

fn borrowed(dialect: Dialect, ty: &Type, digits: bool, value: String) -> String {
    let (base, nullable) = (&ty.base, ty.nullable);
    match base {
        Base::Text | Base::Bytes if nullable => value + ".as_deref()",
        Base::Text => value + ".as_str()",
        Base::Bytes => value + ".as_slice()",
        Base::Json => match (dialect, nullable) {
            (Dialect::Pg, false) => format!("&{value}"),
            (Dialect::Pg, true) => value + ".as_ref()",
            (Dialect::Sqlite, false) => value + ".to_string()",
            (Dialect::Sqlite, true) => value + ".as_ref().map(ToString::to_string)",
        },
        Base::TextArray | Base::Int64Array | Base::UuidArray => {
            let list = list(base, digits);
            match (dialect, nullable) {
                (Dialect::Pg, false) => value + ".as_slice()",
                (Dialect::Pg, true) => value + ".as_deref()",
                (Dialect::Sqlite, false) => format!("{list}(&{value})"),
                (Dialect::Sqlite, true) => format!("{value}.as_deref().map({list})"),
            }
        }
        Base::Numeric if nullable => value + ".as_ref()",
        Base::Numeric => format!("&{value}"),
        _ => value,
    }
}

/// Whether a value is handed over as it is.
fn is_copied(base: &Base) -> bool {
    match base {
        Base::Bool | Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 => true,
        Base::Uuid | Base::Timestamp | Base::DateTime | Base::Date | Base::TimeOfDay => true,
        Base::Interval | Base::Enum(_) | Base::Stored(_) => true,
        Base::Numeric => false,
        Base::Text | Base::Bytes | Base::Json | Base::TextArray | Base::Int64Array | Base::UuidArray => false,
    }
}
