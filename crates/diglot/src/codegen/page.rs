//! The key behind which a page begins: its struct, and how a row gives it.

use super::code::{Code, line};
use super::{keys, structs, types};
use crate::config::Config;
use crate::infer::{Param, Signature};
use crate::names::{camel, ident};

/// The name of the struct of the key.
pub(super) fn name(signature: &Signature) -> String {
    camel(&signature.name) + "Key"
}

/// The struct, and the function by which a row gives its key; nothing for a statement that is no page.
pub(super) fn definition(code: &mut Code, style: &structs::Style, config: &Config, signature: &Signature) {
    let values: Vec<(&str, &Param)> =
        signature.params.iter().filter_map(|param| Some((param.of_key()?.1, param))).collect();
    if values.is_empty() {
        return;
    }
    let fields = values.iter().map(|(field, param)| structs::Field {
        name: field,
        doc: format!("`{}`, {}.", crate::names::doc_line(field), param.ty),
        ty: {
            let rust = types::in_noun(config, param.rust.as_deref());
            types::field(config.libraries(), &param.ty.base, param.ty.nullable, rust.as_deref())
        },
    });
    let (name, of) = (name(signature), format!("Where a row of `{}` stands in its order.", signature.name));
    structs::documented(code, style, &name, false, &of, fields);
    code.gap();
    code.open(format_args!("impl {}Row {{", camel(&signature.name)));
    code.doc("The key by which the next page begins behind this row.");
    code.open(format_args!("{} fn key(&self) -> {name} {{", style.seen));
    code.open(format_args!("{name} {{"));
    for (field, param) in values {
        let Some(column) = signature.columns.iter().find(|column| column.name == *field) else { continue };
        let value = keys::place("self", column) + ".clone()";
        let is_plain = !column.ty.nullable;
        let value = if param.ty.nullable && is_plain { format!("Some({value})") } else { value };
        line!(code, "{}: {value},", ident(field));
    }
    code.close("}");
    code.close("}");
    code.close("}");
}
