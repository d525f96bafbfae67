//! Lists, and functions in FROM.

use super::Form::{Aggregate, Call, Infix, Source};
use super::meaning::Meaning as M;
use super::{Kinds as K, Row, pg, sqlite};

pub(super) const ROWS: &[Row] = &[
    pg(Infix, "[]", &[K::LIST.or(K::JSON), K::ANY], M::List("element")),
    pg(Call, "array", &[K::ANY], M::List("of rows")),
    pg(Call, "array_append", &[K::LIST, K::ANY], M::List("with one behind")),
    pg(Call, "array_prepend", &[K::ANY, K::LIST], M::List("with one before")),
    pg(Call, "array_cat", &[K::LIST, K::LIST], M::List("both")),
    pg(Call, "array_remove", &[K::LIST, K::ANY], M::List("without a value")),
    pg(Call, "array_position", &[K::LIST, K::ANY], M::List("place")),
    pg(Call, "array_length", &[K::LIST, K::NARROW], M::List("length in a dimension")),
    pg(Call, "cardinality", &[K::LIST], M::List("length")),
    pg(Aggregate, "array_agg", &[K::ANY], M::List("of a group")),
    sqlite(Source, "json_each", &[K::ANY], M::Rows("members and elements")).more(1),
    sqlite(Source, "json_tree", &[K::ANY], M::Rows("everything inside")).more(1),
    pg(Source, "unnest", &[K::ANY], M::Rows("elements of lists")).more(20),
    pg(Source, "generate_series", &[K::ANY, K::ANY], M::Rows("series")).more(1),
    pg(Source, "generate_subscripts", &[K::LIST, K::NARROW], M::Rows("places of a list")),
    pg(Source, "jsonb_array_elements", &[K::JSON], M::Rows("elements")),
    pg(Source, "json_array_elements", &[K::JSON], M::Rows("elements")),
    pg(Source, "jsonb_array_elements_text", &[K::JSON], M::Rows("elements as texts")),
    pg(Source, "json_array_elements_text", &[K::JSON], M::Rows("elements as texts")),
    pg(Source, "jsonb_each", &[K::JSON], M::Rows("members")),
    pg(Source, "json_each", &[K::JSON], M::Rows("members")),
    pg(Source, "jsonb_each_text", &[K::JSON], M::Rows("members as texts")),
    pg(Source, "json_each_text", &[K::JSON], M::Rows("members as texts")),
    pg(Source, "jsonb_object_keys", &[K::JSON], M::Rows("names of members")),
    pg(Source, "string_to_table", &[K::TEXT, K::TEXT], M::Rows("parts of a text")),
];
