//! What a rule is: a name, and the text of its page; and all of them.
//!
//! Every pass reports findings, so that the constants stand below all of them. A finding is made with one of these: a name
//! that no rule has does not compile.

pub(crate) mod text;

/// A rule as `cargo diglot explain` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Kebab-case defect name that reads after "allow".
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The whole text: what it finds, why it bites, the text to write instead (Markdown).
    pub doc: &'static str,
}

/// Declares a constant for each file of `rules/`, by its folder; the file is named as its rule is. Its first line is the
/// summary, what stands behind the empty line after that the text.
macro_rules! rules {
    ($($family:literal { $($rule:ident = $file:literal,)* })*) => {
        $($(
            #[doc = concat!("The rule of `rules/", $family, "/", $file, ".md`.")]
            #[allow(unreachable_pub, reason = "the module of the rules makes those public that the command line reports")]
            pub const $rule: Rule = {
                const NAME: [u8; $file.len()] = text::kebab($file);
                let (summary, doc) = text::cut(include_str!(concat!("rules/", $family, "/", $file, ".md")));
                Rule { name: text::as_text(&NAME), summary, doc }
            };
        )*)*

        /// All rules, by family.
        pub const ALL: &[Rule] = &[$($($rule),*),*];
    };
}

rules! {
    "page" {
        BAD_BASELINE = "bad_baseline",
        BAD_CONFIG = "bad_config",
        BAD_FILE_NAME = "bad_file_name",
        BAD_GUARD = "bad_guard",
        BAD_HEADER = "bad_header",
        BAD_NAME = "bad_name",
        BAD_OPTIONAL_PART = "bad_optional_part",
        BAD_PAGE = "bad_page",
        BAD_PRELUDE = "bad_prelude",
        BUILT_TEXT = "built_text",
        DUPLICATE_NAME = "duplicate_name",
        EMPTY_STATEMENT = "empty_statement",
        MERGE_CONFLICT = "merge_conflict",
        MISSING_FOLDER = "missing_folder",
        MISSING_PAGE = "missing_page",
        MISSING_REASON = "missing_reason",
        MISSING_STATEMENT = "missing_statement",
        NESTED_COMMENT = "nested_comment",
        NOT_UTF8 = "not_utf8",
        SQL_BEFORE_NAME = "sql_before_name",
        STATEMENT_ORDER = "statement_order",
        SYNTAX = "syntax",
        UNKNOWN_ANNOTATION = "unknown_annotation",
        UNKNOWN_DIVERGENCE = "unknown_divergence",
        UNSUPPORTED_STATEMENT = "unsupported_statement",
        UNTERMINATED = "unterminated",
        UNUSED_ALLOW = "unused_allow",
        UNUSED_ANNOTATION = "unused_annotation",
        UNUSED_BASELINE = "unused_baseline",
        UNUSED_DIVERGENCE = "unused_divergence",
        UNUSED_ONLY = "unused_only",
        WRONG_ONLY = "wrong_only",
    }
    "drift" {
        CARDINALITY_DIFFERS = "cardinality_differs",
        COLUMN_ORDER_DIFFERS = "column_order_differs",
        COLUMNS_DIFFER = "columns_differ",
        CONFLICT_DIFFERS = "conflict_differs",
        DISTINCT_DIFFERS = "distinct_differs",
        EDGE_DIFFERS = "edge_differs",
        GROUP_DIFFERS = "group_differs",
        HAVING_DIFFERS = "having_differs",
        INSERT_DIFFERS = "insert_differs",
        JOIN_DIFFERS = "join_differs",
        KIND_DIFFERS = "kind_differs",
        LIMIT_DIFFERS = "limit_differs",
        OFFSET_DIFFERS = "offset_differs",
        ORDER_DIFFERS = "order_differs",
        PARAM_DIFFERS = "param_differs",
        PARAM_ORDER_DIFFERS = "param_order_differs",
        PARAMS_DIFFER = "params_differ",
        PART_MISSING = "part_missing",
        RESULTS_DIFFER = "results_differ",
        SET_DIFFERS = "set_differs",
        SET_OPERATION_DIFFERS = "set_operation_differs",
        TABLES_DIFFER = "tables_differ",
        UNIT_CTE_DIFFERS = "unit_cte_differs",
        WHERE_DIFFERS = "where_differs",
    }
    "run" {
        ANSWER_DIFFERS = "answer_differs",
        ENGINE_REFUSES = "engine_refuses",
        MISSING_FUNCTION = "missing_function",
        REFUSED_BY_POSTGRES = "refused_by_postgres",
        REFUSED_BY_SQLITE = "refused_by_sqlite",
        STALE_ANSWERS = "stale_answers",
        UNPROVED_LIST = "unproved_list",
        UNPROVED_STEPS = "unproved_steps",
    }
    "schema" {
        KEY_COLLATION = "key_collation",
        NARROW_COLUMN = "narrow_column",
        NOT_STRICT = "not_strict",
        NULLABLE_KEY = "nullable_key",
        SCHEMA_CHECK_DIFFERS = "schema_check_differs",
        SCHEMA_COLUMN_DIFFERS = "schema_column_differs",
        SCHEMA_DEFAULT_DIFFERS = "schema_default_differs",
        SCHEMA_FOREIGN_KEY_DIFFERS = "schema_foreign_key_differs",
        SCHEMA_INDEX_DIFFERS = "schema_index_differs",
        SCHEMA_KEY_DIFFERS = "schema_key_differs",
        SCHEMA_NULL_DIFFERS = "schema_null_differs",
        SCHEMA_REFUSED = "schema_refused",
        SCHEMA_TABLE_DIFFERS = "schema_table_differs",
        SCHEMA_TYPE_DIFFERS = "schema_type_differs",
        SCHEMA_UNIQUE_DIFFERS = "schema_unique_differs",
        SCHEMA_UNREADABLE = "schema_unreadable",
        SCHEMA_WORDS_DIFFER = "schema_words_differ",
        TRIGGER_WRITES_OWN_TABLE = "trigger_writes_own_table",
        UNCHECKED_FLAG = "unchecked_flag",
        UNCHECKED_JSON = "unchecked_json",
        UNCHECKED_UUID = "unchecked_uuid",
        UNKNOWN_CONSTRAINT = "unknown_constraint",
    }
    "migration" {
        ADDED_NOT_NULL = "added_not_null",
        BACKFILL_UNDER_LOCK = "backfill_under_lock",
        BLOCKING_INDEX = "blocking_index",
        CONCURRENTLY_IN_TRANSACTION = "concurrently_in_transaction",
        DROPPED_PARENT = "dropped_parent",
        LOCK_WITHOUT_TIMEOUT = "lock_without_timeout",
        LOST_WITH_REBUILD = "lost_with_rebuild",
        MIGRATION_DIFFERS = "migration_differs",
        MOVED_REFERENCES = "moved_references",
        RELEASE_DIFFERS = "release_differs",
        SCAN_UNDER_LOCK = "scan_under_lock",
        TABLE_REWRITE = "table_rewrite",
    }
    "lock" {
        ABSENCE_GUARD = "absence_guard",
        CHECKED_DELTA = "checked_delta",
        CLAIM_WAITS = "claim_waits",
        COUNTED_GUARD = "counted_guard",
        ID_CURSOR = "id_cursor",
        LIMITED_SUBQUERY = "limited_subquery",
        LOCK_DIFFERS = "lock_differs",
        LOCK_ORDER = "lock_order",
        NEXT_NUMBER = "next_number",
        STALE_FENCE = "stale_fence",
        STALE_WRITE = "stale_write",
        TORN_READ = "torn_read",
        UNBOUNDED_WAIT = "unbounded_wait",
        UNLOCKED_CLAIM = "unlocked_claim",
        UNLOCKED_FENCE = "unlocked_fence",
        UNLOCKED_READ = "unlocked_read",
        WEAK_LOCK = "weak_lock",
    }
    "shard" {
        CASE_OPERAND = "case_operand",
        FUNCTION_ON_SHARDS = "function_on_shards",
        INSERT_BY_WAY = "insert_by_way",
        INSERT_IN_WITH = "insert_in_with",
        KEY_WITHOUT_SHARD = "key_without_shard",
        LOCAL_WITH_SHARDS = "local_with_shards",
        LOCK_ON_SHARDS = "lock_on_shards",
        MOVING_FUNCTION = "moving_function",
        REFERENCE_ACROSS_SHARDS = "reference_across_shards",
        SHARD_KEY = "shard_key",
        SHARD_KEY_SET = "shard_key_set",
        SHARD_KEY_TYPE = "shard_key_type",
        SHARDS_DIFFER = "shards_differ",
        TRIGGER_ON_SHARDS = "trigger_on_shards",
    }
    "name" {
        ALIAS_SHADOWS = "alias_shadows",
        AMBIGUOUS_COLUMN = "ambiguous_column",
        CARDINALITY_COLUMNS = "cardinality_columns",
        COLUMN_CASE = "column_case",
        COLUMN_DUPLICATE = "column_duplicate",
        COLUMN_TYPE_CONFLICT = "column_type_conflict",
        COLUMN_TYPE_UNKNOWN = "column_type_unknown",
        COLUMN_UNNAMED = "column_unnamed",
        MIXED_TYPES = "mixed_types",
        PARAM_TYPE_CONFLICT = "param_type_conflict",
        PARAM_TYPE_UNKNOWN = "param_type_unknown",
        REFUSED_TYPES = "refused_types",
        SAME_NAME_FUNCTION = "same_name_function",
        UNKNOWN_COLUMN = "unknown_column",
        UNKNOWN_OPERATION = "unknown_operation",
        UNKNOWN_TABLE = "unknown_table",
        UNKNOWN_WORD = "unknown_word",
        UNTYPED_NULL_TEST = "untyped_null_test",
        UNTYPED_PARAMETER = "untyped_parameter",
    }
    "number" {
        CAST_WIDTH = "cast_width",
        DECIMAL_AS_TEXT = "decimal_as_text",
        DIVIDED_BY_ZERO = "divided_by_zero",
        EXACT_QUOTIENT = "exact_quotient",
        EXPLICIT_NUMBER = "explicit_number",
        HALF_ROUNDED = "half_rounded",
        HUGE_NUMBER = "huge_number",
        INT_REAL_COMPARISON = "int_real_comparison",
        NARROW_ARITHMETIC = "narrow_arithmetic",
        NARROW_REAL = "narrow_real",
        NUMBER_JOINED = "number_joined",
        REAL_INTO_INTEGER = "real_into_integer",
        SHIFT_COUNT = "shift_count",
        TEXT_AS_NUMBER = "text_as_number",
        TEXT_INTO_NUMBER = "text_into_number",
    }
    "document" {
        JSON_COMPARED = "json_compared",
        NULL_DOCUMENT = "null_document",
        REAL_IN_DOCUMENT = "real_in_document",
    }
    "time" {
        COARSE_TIME = "coarse_time",
        EPOCH_TEXT = "epoch_text",
        LOCAL_TIME = "local_time",
        TIME_FORMAT = "time_format",
        TIME_OUT_OF_RANGE = "time_out_of_range",
    }
    "text" {
        CAST_LENGTH = "cast_length",
        ENUM_ORDER = "enum_order",
        FORMAT_DIRECTIVE = "format_directive",
        LIKE_BACKSLASH = "like_backslash",
        LIKE_CASE = "like_case",
        NEGATIVE_SUBSTR = "negative_substr",
        TEXT_ORDER = "text_order",
        UNORDERED_TEXTS = "unordered_texts",
        VALUE_AS_TEXT = "value_as_text",
    }
    "row" {
        ENDLESS_RECURSION = "endless_recursion",
        GROUP_BARE_COLUMN = "group_bare_column",
        LIMIT_TIES = "limit_ties",
        LIMIT_WITHOUT_NUMBER = "limit_without_number",
        LOST_ROWS = "lost_rows",
        NULL_KEY = "null_key",
        NULL_ORDER = "null_order",
        ORDER_BY_PARAM = "order_by_param",
        PAGE_TIES = "page_ties",
        SCALAR_MANY = "scalar_many",
        UNMATCHED_ROWS = "unmatched_rows",
        UNORDERED_LIMIT = "unordered_limit",
        UNORDERED_SET = "unordered_set",
    }
    "write" {
        CONFLICT_TARGET = "conflict_target",
        INSERT_WIDTH = "insert_width",
        KEY_SHIFT = "key_shift",
        ON_CONFLICT_WITHOUT_TARGET = "on_conflict_without_target",
        OR_REPLACE = "or_replace",
        RETURNING_READS_TARGET = "returning_reads_target",
        UNIT_READ_AFTER_WRITE = "unit_read_after_write",
        UPDATE_FROM_MANY = "update_from_many",
        UPDATE_READS_TARGET = "update_reads_target",
        UPSERT_TWICE = "upsert_twice",
    }
}

/// The rules whose findings running both pages decides: what they warn of would show in rows. What they do not list is
/// about locks, plans, shards, other rows than those of today, or the texts themselves.
const DECIDED_BY_ROWS: [Rule; 49] = [
    ALIAS_SHADOWS,
    CAST_LENGTH,
    CAST_WIDTH,
    COLUMNS_DIFFER,
    CONFLICT_DIFFERS,
    DECIMAL_AS_TEXT,
    DISTINCT_DIFFERS,
    DIVIDED_BY_ZERO,
    ENUM_ORDER,
    EPOCH_TEXT,
    EXACT_QUOTIENT,
    FORMAT_DIRECTIVE,
    GROUP_BARE_COLUMN,
    GROUP_DIFFERS,
    HALF_ROUNDED,
    HAVING_DIFFERS,
    INSERT_DIFFERS,
    INT_REAL_COMPARISON,
    JOIN_DIFFERS,
    JSON_COMPARED,
    KIND_DIFFERS,
    LIKE_BACKSLASH,
    LIKE_CASE,
    LIMIT_DIFFERS,
    MIXED_TYPES,
    NARROW_ARITHMETIC,
    NEGATIVE_SUBSTR,
    NULL_DOCUMENT,
    NULL_KEY,
    NULL_ORDER,
    NUMBER_JOINED,
    OFFSET_DIFFERS,
    OR_REPLACE,
    ORDER_DIFFERS,
    PARAM_DIFFERS,
    PART_MISSING,
    REAL_IN_DOCUMENT,
    REAL_INTO_INTEGER,
    SAME_NAME_FUNCTION,
    SET_DIFFERS,
    SET_OPERATION_DIFFERS,
    TABLES_DIFFER,
    TEXT_AS_NUMBER,
    TEXT_ORDER,
    TIME_FORMAT,
    UNKNOWN_OPERATION,
    UPDATE_FROM_MANY,
    VALUE_AS_TEXT,
    WHERE_DIFFERS,
];

/// The rules that ask for a whole order. Who allows one says that any of the rows may come first.
const ASK_FOR_ORDER: [Rule; 3] = [LIMIT_TIES, PAGE_TIES, UNORDERED_LIMIT];

/// Whether a rule asks that rows be in one order alone.
pub(crate) fn asks_for_order(rule: &str) -> bool {
    ASK_FOR_ORDER.iter().any(|asking| asking.name == rule)
}

/// Whether running both pages decides what a rule finds.
pub(crate) fn is_decided_by_rows(rule: &str) -> bool {
    DECIDED_BY_ROWS.iter().any(|decided| decided.name == rule)
}
