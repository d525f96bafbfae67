//! What the engines answer, and what they refuse.

lints! {
    missing_function = MISSING_FUNCTION,
    refused_by_postgres = REFUSED_BY_POSTGRES,
    refused_by_sqlite = REFUSED_BY_SQLITE,
}
