//! What callers give, as the columns hold it. Their numbers may exceed a column; the end of it stands for those.

/// A caller's time in milliseconds.
pub(crate) fn stored_ms(ms: impl TryInto<i64>) -> i64 {
    ms.try_into().unwrap_or(i64::MAX) // tidy: a caller's time, not a row's
}

/// How many rows to ask for so that a page of `limit` knows whether there are more.
pub(crate) fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).map_or(i64::MAX, |limit| limit.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exceeds_a_column_is_its_end() {
        assert_eq!([stored_ms(5_u64), stored_ms(u64::MAX), stored_ms(u128::MAX)], [5, i64::MAX, i64::MAX]);
        assert_eq!([one_more(0), one_more(9)], [1, 10]);
    }
}
