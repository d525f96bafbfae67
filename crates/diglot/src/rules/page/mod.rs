//! How pages are written: their files, names, annotations and settings.

lints! {
    bad_guard = BAD_GUARD,
    nested_comment = NESTED_COMMENT,
}
