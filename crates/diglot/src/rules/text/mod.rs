//! Texts: their order, their patterns, their length.

lints! {
    cast_length = CAST_LENGTH,
    enum_order = ENUM_ORDER,
    format_directive = FORMAT_DIRECTIVE,
    like_backslash = LIKE_BACKSLASH,
    like_case = LIKE_CASE,
    negative_substr = NEGATIVE_SUBSTR,
    text_order = TEXT_ORDER,
    unordered_texts = UNORDERED_TEXTS,
    value_as_text = VALUE_AS_TEXT,
}
