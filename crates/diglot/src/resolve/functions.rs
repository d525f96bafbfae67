//! What functions give, as data: one table per dialect. A function outside its table has no known type.

use crate::dialect::Dialect;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

/// The type that a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    /// Always this.
    A(Kind),
    /// The type of that argument.
    Same(usize),
    /// The widest type of all arguments.
    Widest,
    /// What `sum` gives for its argument.
    Sum,
    /// What `avg` gives.
    Average,
    /// An array of the first argument's type.
    ArrayOf,
    /// The widest type of the second and third arguments: `iif`.
    Branches,
    /// Nothing that can be known.
    Unknown,
}

/// Plain names of [`Base`] that fit in a constant table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int32,
    Int64,
    Numeric,
    Float,
    Text,
    Bytes,
    Uuid,
    Json,
    Time,
    Datetime,
    Date,
    Texts,
}

/// When the result is NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Null {
    /// Never.
    Never,
    /// It may be, whatever the arguments are.
    May,
    /// When an argument is.
    Any,
    /// When the first argument is.
    First,
    /// When all arguments are.
    All,
    /// Never for the clock itself (no argument, or `'now'`); otherwise the text may be no time.
    Clock,
    /// An aggregate: over no rows, or when an argument is.
    Rows,
}

/// One line of a table.
pub(super) type Line = (&'static str, Gives, Null);

use Gives::{A, ArrayOf, Average, Branches, Same, Sum, Unknown, Widest};
use Kind::{Bool, Bytes, Datetime, Float, Int32, Int64, Json, Numeric, Text, Texts, Time, Uuid};
use Null::{All, Any, Clock, First, May, Never, Rows};

/// In both dialects.
const BOTH: &[Line] = &[
    ("abs", Same(0), Any),
    ("avg", Average, Rows),
    ("coalesce", Widest, All),
    ("count", A(Int64), Never),
    ("cume_dist", A(Float), Never),
    ("dense_rank", A(Int64), Never),
    ("first_value", Same(0), May),
    ("lag", Same(0), May),
    ("last_value", Same(0), May),
    ("lead", Same(0), May),
    ("lower", A(Text), Any),
    ("ltrim", A(Text), Any),
    ("max", Same(0), Rows),
    ("min", Same(0), Rows),
    ("mod", Widest, Any),
    ("nth_value", Same(0), May),
    ("nullif", Same(0), May),
    ("percent_rank", A(Float), Never),
    ("rank", A(Int64), Never),
    ("replace", A(Text), Any),
    ("row_number", A(Int64), Never),
    ("rtrim", A(Text), Any),
    ("string_agg", A(Text), Rows),
    ("substr", A(Text), Any),
    ("substring", A(Text), Any),
    ("sum", Sum, Rows),
    ("trim", A(Text), Any),
    ("upper", A(Text), Any),
];

const SQLITE: &[Line] = &[
    ("ceil", Same(0), Any),
    ("ceiling", Same(0), Any),
    ("changes", A(Int64), Never),
    ("char", A(Text), Never),
    ("concat", A(Text), Never),
    ("concat_ws", A(Text), First),
    ("current_date", A(Text), Never),
    ("current_time", A(Text), Never),
    ("current_timestamp", A(Text), Never),
    ("date", A(Text), Clock),
    ("datetime", A(Text), Clock),
    ("floor", Same(0), Any),
    ("format", A(Text), May),
    ("glob", A(Bool), Any),
    ("group_concat", A(Text), Rows),
    ("hex", A(Text), Never),
    ("ifnull", Widest, All),
    ("iif", Branches, May),
    ("instr", A(Int64), Any),
    ("json", A(Json), Any),
    ("json_array", A(Json), Never),
    ("json_array_length", A(Int64), May),
    ("json_extract", Unknown, May),
    ("json_group_array", A(Json), Never),
    ("json_group_object", A(Json), Never),
    ("json_insert", A(Json), First),
    ("json_object", A(Json), Never),
    ("json_patch", A(Json), Any),
    ("json_quote", A(Json), Never),
    ("json_remove", A(Json), May),
    ("json_replace", A(Json), First),
    ("json_set", A(Json), First),
    ("json_type", A(Text), May),
    ("json_valid", A(Bool), Any),
    ("julianday", A(Float), Clock),
    ("last_insert_rowid", A(Int64), Never),
    ("length", A(Int64), Any),
    ("like", A(Bool), Any),
    ("ln", A(Float), May),
    ("log", A(Float), May),
    ("ntile", A(Int64), Never),
    ("octet_length", A(Int64), Any),
    ("pow", A(Float), Any),
    ("power", A(Float), Any),
    ("printf", A(Text), May),
    ("quote", A(Text), Never),
    ("random", A(Int64), Never),
    ("randomblob", A(Bytes), Never),
    ("round", A(Float), Any),
    ("sign", A(Int64), May),
    ("sqlite_version", A(Text), Never),
    ("sqrt", A(Float), May),
    ("strftime", A(Text), May),
    ("time", A(Text), Clock),
    ("timediff", A(Text), May),
    ("total", A(Float), Never),
    ("total_changes", A(Int64), Never),
    ("trunc", Same(0), Any),
    ("typeof", A(Text), Never),
    ("unhex", A(Bytes), May),
    ("unicode", A(Int64), May),
    ("unixepoch", A(Int64), Clock),
    ("zeroblob", A(Bytes), Never),
];

const PG: &[Line] = &[
    ("array_agg", ArrayOf, Rows),
    ("array_append", Same(0), Never),
    ("array_cat", Same(0), All),
    ("array_length", A(Int32), May),
    ("array_position", A(Int32), May),
    ("array_prepend", Same(1), Never),
    ("array_remove", Same(0), Any),
    ("array_to_json", A(Json), Any),
    ("array_to_string", A(Text), Any),
    ("bit_length", A(Int32), Any),
    ("bool_and", A(Bool), Rows),
    ("bool_or", A(Bool), Rows),
    ("btrim", A(Text), Any),
    ("cardinality", A(Int32), Any),
    ("ceil", Same(0), Any),
    ("ceiling", Same(0), Any),
    ("char_length", A(Int32), Any),
    ("chr", A(Text), Any),
    ("clock_timestamp", A(Time), Never),
    ("concat", A(Text), Never),
    ("concat_ws", A(Text), First),
    ("convert_from", A(Text), Any),
    ("convert_to", A(Bytes), Any),
    ("current_database", A(Text), Never),
    ("current_date", A(Kind::Date), Never),
    ("current_schema", A(Text), May),
    ("current_setting", A(Text), May),
    ("current_timestamp", A(Time), Never),
    ("currval", A(Int64), Never),
    ("date_part", A(Float), Any),
    ("date_trunc", Same(1), Any),
    ("decode", A(Bytes), Any),
    ("digest", A(Bytes), Any),
    ("div", A(Numeric), Any),
    ("encode", A(Text), Any),
    ("every", A(Bool), Rows),
    ("exp", A(Float), Any),
    ("extract", A(Numeric), Any),
    ("floor", Same(0), Any),
    ("format", A(Text), First),
    ("gen_random_uuid", A(Uuid), Never),
    ("greatest", Widest, All),
    ("hashtext", A(Int32), Any),
    ("hashtextextended", A(Int64), Any),
    ("initcap", A(Text), Any),
    ("json_agg", A(Json), Rows),
    ("json_build_array", A(Json), Never),
    ("json_build_object", A(Json), Never),
    ("json_object_agg", A(Json), Rows),
    ("json_typeof", A(Text), Any),
    ("jsonb_agg", A(Json), Rows),
    ("jsonb_array_length", A(Int32), Any),
    ("jsonb_build_array", A(Json), Never),
    ("jsonb_build_object", A(Json), Never),
    ("jsonb_exists", A(Bool), Any),
    ("jsonb_extract_path", A(Json), May),
    ("jsonb_extract_path_text", A(Text), May),
    ("jsonb_insert", A(Json), Any),
    ("jsonb_object", A(Json), Any),
    ("jsonb_object_agg", A(Json), Rows),
    ("jsonb_path_exists", A(Bool), May),
    ("jsonb_path_query_first", A(Json), May),
    ("jsonb_pretty", A(Text), Any),
    ("jsonb_set", A(Json), Any),
    ("jsonb_set_lax", A(Json), Any),
    ("jsonb_strip_nulls", A(Json), Any),
    ("jsonb_typeof", A(Text), Any),
    ("least", Widest, All),
    ("left", A(Text), Any),
    ("length", A(Int32), Any),
    ("ln", A(Float), Any),
    ("localtimestamp", A(Datetime), Never),
    ("lpad", A(Text), Any),
    ("make_interval", Unknown, Any),
    ("md5", A(Text), Any),
    ("nextval", A(Int64), Never),
    ("now", A(Time), Never),
    ("ntile", A(Int32), Never),
    ("octet_length", A(Int32), Any),
    ("pg_advisory_xact_lock", Unknown, Never),
    ("pg_backend_pid", A(Int32), Never),
    ("pg_notify", Unknown, Any),
    ("pg_try_advisory_lock", A(Bool), Any),
    ("pg_try_advisory_xact_lock", A(Bool), Any),
    ("position", A(Int32), Any),
    ("power", A(Float), Any),
    ("random", A(Float), Never),
    ("regexp_replace", A(Text), Any),
    ("repeat", A(Text), Any),
    ("reverse", A(Text), Any),
    ("right", A(Text), Any),
    ("round", Same(0), Any),
    ("row_to_json", A(Json), Any),
    ("rpad", A(Text), Any),
    ("set_config", A(Text), Any),
    ("sha256", A(Bytes), Any),
    ("sign", Same(0), Any),
    ("split_part", A(Text), Any),
    ("sqrt", A(Float), Any),
    ("starts_with", A(Bool), Any),
    ("statement_timestamp", A(Time), Never),
    ("string_to_array", A(Texts), Any),
    ("strpos", A(Int32), Any),
    ("to_char", A(Text), Any),
    ("to_hex", A(Text), Any),
    ("to_json", A(Json), Any),
    ("to_jsonb", A(Json), Any),
    ("to_timestamp", A(Time), Any),
    ("transaction_timestamp", A(Time), Never),
    ("translate", A(Text), Any),
    ("trunc", Same(0), Any),
    ("version", A(Text), Never),
];

/// Functions that fold the rows of a group.
const AGGREGATES: [&str; 20] = [
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "count",
    "every",
    "group_concat",
    "json_agg",
    "json_group_array",
    "json_group_object",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_object_agg",
    "max",
    "min",
    "string_agg",
    "sum",
    "total",
];

/// The line of a function.
pub(super) fn line(dialect: Dialect, name: &str) -> Option<&'static Line> {
    let own = match dialect {
        Dialect::Sqlite => SQLITE,
        Dialect::Pg => PG,
    };
    own.iter().chain(BOTH).find(|line| line.0 == name)
}

/// Whether a dialect's table, or that of both, has a function.
pub(crate) fn knows_function(dialect: Dialect, name: &str) -> bool {
    line(dialect, name).is_some()
}

/// Whether a call folds rows; `max(a, b)` on SQLite does not.
pub fn is_aggregate(name: &str, args: usize) -> bool {
    AGGREGATES.contains(&name) && !(["max", "min"].contains(&name) && args > 1)
}

/// Whether an expression is an aggregate, or made of one by functions and operators.
pub(crate) fn is_aggregate_call(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { over: Some(_), .. } => false,
        ExprKind::Call { name, args, .. } => is_aggregate(name, args.len()) || args.iter().any(is_aggregate_call),
        ExprKind::Binary { left, right, .. } => is_aggregate_call(left) || is_aggregate_call(right),
        ExprKind::Cast { expr, .. } | ExprKind::Unary { expr, .. } | ExprKind::Is { expr, .. } => {
            is_aggregate_call(expr)
        }
        _ => false,
    }
}

impl Kind {
    /// The logical type.
    pub(super) fn base(self) -> Base {
        match self {
            Bool => Base::Bool,
            Int32 => Base::Int32,
            Int64 => Base::Int64,
            Numeric => Base::Numeric,
            Float => Base::Float64,
            Text => Base::Text,
            Bytes => Base::Bytes,
            Uuid => Base::Uuid,
            Json => Base::Json,
            Time => Base::Timestamp,
            Datetime => Base::DateTime,
            Kind::Date => Base::Date,
            Texts => Base::TextArray,
        }
    }
}
