//! Numbers: their widths, their rounding, and texts that are read as numbers.

lints! {
    cast_width = CAST_WIDTH,
    decimal_as_text = DECIMAL_AS_TEXT,
    divided_by_zero = DIVIDED_BY_ZERO,
    exact_quotient = EXACT_QUOTIENT,
    explicit_number = EXPLICIT_NUMBER,
    half_rounded = HALF_ROUNDED,
    huge_number = HUGE_NUMBER,
    int_real_comparison = INT_REAL_COMPARISON,
    narrow_arithmetic = NARROW_ARITHMETIC,
    narrow_real = NARROW_REAL,
    number_joined = NUMBER_JOINED,
    real_into_integer = REAL_INTO_INTEGER,
    shift_count = SHIFT_COUNT,
    text_as_number = TEXT_AS_NUMBER,
    text_into_number = TEXT_INTO_NUMBER,
}
