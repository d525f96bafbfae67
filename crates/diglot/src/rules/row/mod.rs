//! Which rows, how many, and in which order.

lints! {
    endless_recursion = ENDLESS_RECURSION,
    group_bare_column = GROUP_BARE_COLUMN,
    limit_ties = LIMIT_TIES,
    limit_without_number = LIMIT_WITHOUT_NUMBER,
    lost_rows = LOST_ROWS,
    null_key = NULL_KEY,
    order_by_param = ORDER_BY_PARAM,
    page_ties = PAGE_TIES,
    scalar_many = SCALAR_MANY,
    unordered_limit = UNORDERED_LIMIT,
    unordered_set = UNORDERED_SET,
}
