//! Casts, and choices between values.

use super::Form::{Call, Cast};
use super::meaning::{Meaning as M, Number};
use super::{Kinds as K, Row, both, pg, sqlite};

/// A cast of SQLite: it makes something of everything.
macro_rules! lenient {
    ($($word:literal = $to:literal),*) => { &[$(sqlite(Cast, $word, &[K::ANY], M::Convert($to, Number::Lenient)),)*] };
}

/// A cast of Postgres: what is not written like it is refused.
macro_rules! strict {
    ($($word:literal = $to:literal, $from:expr;)*) => { &[$(pg(Cast, $word, &[$from], M::Convert($to, Number::Strict)),)*] };
}

const NUMBERS: K = K::NUMBER.or(K::TEXT).or(K::FLAG).or(K::JSON);
const TEXTS: K = K::ANY;
const DOCUMENTS: K = K::TEXT.or(K::JSON);
const TIMES: K = K::TEXT.or(K::TIME);
const LISTS: K = K::TEXT.or(K::LIST);

pub(super) const SQLITE: &[Row] = lenient!(
    "int" = "whole",
    "integer" = "whole",
    "bigint" = "whole",
    "smallint" = "whole",
    "int2" = "whole",
    "int4" = "whole",
    "int8" = "whole",
    "text" = "text",
    "varchar" = "text",
    "char" = "text",
    "character" = "text",
    "clob" = "text",
    "character varying" = "text",
    "real" = "real",
    "double" = "real",
    "double precision" = "real",
    "float" = "real",
    "blob" = "bytes",
    "numeric" = "number",
    "decimal" = "number",
    "boolean" = "number",
    "bool" = "number",
    "json" = "number",
    "date" = "number",
    "timestamp" = "number",
    "uuid" = "number"
);

pub(super) const PG: &[Row] = strict!(
    "smallint" = "whole", NUMBERS; "int2" = "whole", NUMBERS; "int" = "whole", NUMBERS; "integer" = "whole", NUMBERS;
    "int4" = "whole", NUMBERS; "bigint" = "whole", NUMBERS; "int8" = "whole", NUMBERS;
    "numeric" = "number", NUMBERS; "decimal" = "number", NUMBERS;
    "real" = "real", NUMBERS; "float4" = "real", NUMBERS; "float" = "real", NUMBERS; "float8" = "real", NUMBERS;
    "double precision" = "real", NUMBERS;
    "text" = "text", TEXTS; "varchar" = "text", TEXTS; "character varying" = "text", TEXTS; "char" = "text", TEXTS;
    "character" = "text", TEXTS; "bpchar" = "text", TEXTS; "name" = "text", TEXTS;
    "bytea" = "bytes", K::TEXT.or(K::BYTES); "uuid" = "id", K::TEXT.or(K::ID);
    "bool" = "flag", K::FLAG.or(K::TEXT).or(K::NARROW).or(K::JSON);
    "boolean" = "flag", K::FLAG.or(K::TEXT).or(K::NARROW).or(K::JSON);
    "json" = "document", DOCUMENTS; "jsonb" = "document", DOCUMENTS;
    "date" = "time", TIMES; "time" = "time", TIMES; "timestamp" = "time", TIMES; "timestamptz" = "time", TIMES;
    "timestamp with time zone" = "time", TIMES; "timestamp without time zone" = "time", TIMES; "interval" = "time", TIMES;
    "text[]" = "list", LISTS; "varchar[]" = "list", LISTS; "smallint[]" = "list", LISTS; "int[]" = "list", LISTS;
    "integer[]" = "list", LISTS; "bigint[]" = "list", LISTS; "int2[]" = "list", LISTS; "int4[]" = "list", LISTS;
    "int8[]" = "list", LISTS; "uuid[]" = "list", LISTS; "boolean[]" = "list", LISTS; "jsonb[]" = "list", LISTS;
    "double precision[]" = "list", LISTS; "bytea[]" = "list", LISTS;
    "regclass" = "name", K::TEXT.or(K::WHOLE); "oid" = "name", K::TEXT.or(K::WHOLE);
    "xid" = "number of a transaction", K::ANY; "xid8" = "number of a transaction", K::ANY;
);

pub(super) const ROWS: &[Row] = &[
    sqlite(Call, "coalesce", &[K::ANY, K::ANY], M::Coalesce).more(97),
    pg(Call, "coalesce", &[K::ANY], M::Coalesce).more(98),
    sqlite(Call, "ifnull", &[K::ANY, K::ANY], M::Coalesce),
    both(Call, "nullif", &[K::ANY, K::ANY], M::NullIf),
    sqlite(Call, "iif", &[K::ANY, K::ANY, K::ANY], M::Choose),
    sqlite(Call, "typeof", &[K::ANY], M::TypeName("class of storage")),
    pg(Call, "pg_typeof", &[K::ANY], M::TypeName("type")),
    sqlite(Call, "likely", &[K::ANY], M::Hint),
    sqlite(Call, "unlikely", &[K::ANY], M::Hint),
    sqlite(Call, "changes", &[], M::Session("rows of the last write")),
    sqlite(Call, "total_changes", &[], M::Session("rows of all writes")),
    sqlite(Call, "last_insert_rowid", &[], M::Session("newest id")),
    pg(Call, "lastval", &[], M::Session("newest number")),
    pg(Call, "currval", &[K::ANY], M::Session("newest number of a sequence")),
    pg(Call, "nextval", &[K::ANY], M::Effect("number of a sequence")),
    sqlite(Call, "sqlite_version", &[], M::Session("version of SQLite")),
    pg(Call, "version", &[], M::Session("version of Postgres")),
    pg(Call, "current_database", &[], M::Session("database")),
    pg(Call, "current_schema", &[], M::Session("schema")),
    pg(Call, "current_setting", &[K::TEXT], M::Session("setting")).more(1),
    pg(Call, "set_config", &[K::TEXT, K::TEXT, K::FLAG], M::Effect("setting")),
    pg(Call, "pg_backend_pid", &[], M::Session("process")),
    pg(Call, "pg_notify", &[K::TEXT, K::TEXT], M::Effect("message")),
    pg(Call, "pg_advisory_xact_lock", &[K::WHOLE], M::Effect("lock")).more(1),
    pg(Call, "pg_try_advisory_xact_lock", &[K::WHOLE], M::Effect("lock if free")).more(1),
    pg(Call, "pg_advisory_lock", &[K::WHOLE], M::Effect("lock of a session")).more(1),
    pg(Call, "pg_try_advisory_lock", &[K::WHOLE], M::Effect("lock of a session if free")).more(1),
    pg(Call, "pg_current_xact_id", &[], M::Session("transaction")),
    pg(Call, "pg_current_snapshot", &[], M::Session("snapshot")),
    pg(Call, "to_regclass", &[K::TEXT], M::Session("relation")),
    sqlite(Call, "json_valid", &[K::ANY], M::Document("whether it is one")).more(1),
];
