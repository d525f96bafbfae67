//! What names and types mean.

lints! {
    alias_shadows = ALIAS_SHADOWS,
    column_case = COLUMN_CASE,
    mixed_types = MIXED_TYPES,
    refused_types = REFUSED_TYPES yields,
    same_name_function = SAME_NAME_FUNCTION,
    unknown_operation = UNKNOWN_OPERATION,
    unknown_word = UNKNOWN_WORD,
    untyped_null_test = UNTYPED_NULL_TEST,
    untyped_parameter = UNTYPED_PARAMETER,
}
