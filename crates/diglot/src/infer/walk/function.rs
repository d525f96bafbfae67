//! What functions take, as data: a parameter that is an argument has that type.

use super::{Hint, Walk};
use crate::tree::Expr;
use crate::types::Base;

/// What an argument of a function must be.
#[derive(Clone, Copy)]
enum Takes {
    Text,
    Int,
    Bytes,
    /// JSON, or a text that holds some.
    Json,
    Texts,
    Float,
    /// The same as the other arguments that say so, and as the result.
    Alike,
    /// Anything, so that nothing follows.
    Any,
}

use Takes::{Alike, Any, Bytes, Float, Int, Json, Text, Texts};

/// Arguments by function; the last one repeats. Functions that are not listed say nothing.
const TABLE: &[(&str, &[Takes])] = &[
    ("coalesce", &[Alike]),
    ("ifnull", &[Alike]),
    ("nullif", &[Alike]),
    ("greatest", &[Alike]),
    ("least", &[Alike]),
    ("max", &[Alike]),
    ("min", &[Alike]),
    ("abs", &[Alike]),
    ("lower", &[Text]),
    ("upper", &[Text]),
    ("trim", &[Text]),
    ("ltrim", &[Text]),
    ("rtrim", &[Text]),
    ("btrim", &[Text]),
    ("length", &[Text]),
    ("char_length", &[Text]),
    ("substr", &[Text, Int, Int]),
    ("substring", &[Text, Int, Int]),
    ("instr", &[Text, Text]),
    ("strpos", &[Text, Text]),
    ("starts_with", &[Text, Text]),
    ("replace", &[Text]),
    ("unhex", &[Text]),
    ("hex", &[Bytes]),
    ("string_to_array", &[Text]),
    ("array_to_string", &[Texts, Text]),
    ("cardinality", &[Texts]),
    ("json", &[Json]),
    ("json_valid", &[Text]),
    ("json_extract", &[Json, Text]),
    ("json_each", &[Json, Text]),
    ("json_type", &[Json, Text]),
    ("json_array_length", &[Json, Text]),
    ("json_remove", &[Json, Text]),
    ("json_patch", &[Json]),
    ("jsonb_set", &[Json, Texts, Json, Any]),
    ("jsonb_insert", &[Json, Texts, Json, Any]),
    ("jsonb_extract_path_text", &[Json, Text]),
    ("jsonb_array_elements_text", &[Json]),
    ("jsonb_array_elements", &[Json]),
    ("jsonb_array_length", &[Json]),
    ("jsonb_typeof", &[Json]),
    ("jsonb_each_text", &[Json]),
    ("pg_notify", &[Text]),
    ("hashtext", &[Text]),
    ("pg_advisory_xact_lock", &[Int]),
    ("pg_try_advisory_xact_lock", &[Int]),
    ("generate_series", &[Int]),
    ("exp", &[Float]),
    ("ln", &[Float]),
    ("pow", &[Float]),
    ("power", &[Float]),
    ("sqrt", &[Float]),
];

impl<'a> Walk<'a> {
    /// Walks the arguments of a function in a place that wants the type of `want`.
    pub(super) fn function(&mut self, name: &str, args: &'a [Expr], want: Option<&Hint<'a>>) {
        match name {
            // The document, then path and value in turn; any value may be stored.
            "json_set" | "json_insert" | "json_replace" => {
                for (i, arg) in args.iter().enumerate() {
                    let hint = match i {
                        0 => Some(Hint::light(Base::Json)),
                        i if i % 2 == 1 => Some(Hint::heavy(Base::Text)),
                        _ => None,
                    };
                    self.expr(arg, hint.as_ref());
                }
                return;
            }
            "iif" | "if" => {
                if let Some((condition, results)) = args.split_first() {
                    self.expr(condition, Some(&Hint::heavy(Base::Bool)));
                    self.alike(&results.iter().collect::<Vec<_>>(), want);
                }
                return;
            }
            _ => {}
        }
        let takes = TABLE.iter().find(|(known, _)| *known == name).map_or(&[Any][..], |(_, takes)| takes);
        if let [Alike] = takes {
            self.alike(&args.iter().collect::<Vec<_>>(), want);
            return;
        }
        for (i, arg) in args.iter().enumerate() {
            let hint = match takes.get(i).or(takes.last()) {
                Some(Text) => Some(Hint::heavy(Base::Text)),
                Some(Int) => Some(Hint::light(Base::Int64)),
                Some(Bytes) => Some(Hint::light(Base::Bytes)),
                Some(Json) => Some(Hint::light(Base::Json)),
                Some(Texts) => Some(Hint::heavy(Base::TextArray)),
                Some(Float) => Some(Hint::light(Base::Float64)),
                Some(Alike | Any) | None => None,
            };
            self.expr(arg, hint.as_ref());
        }
    }
}
