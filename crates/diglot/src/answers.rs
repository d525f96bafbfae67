//! What the real engines answered, and whether it still fits: the digests in `.sqlx/diglot.json`.
