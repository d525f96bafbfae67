//! JSON documents.

lints! {
    json_compared = JSON_COMPARED,
    null_document = NULL_DOCUMENT,
    real_in_document = REAL_IN_DOCUMENT,
}
