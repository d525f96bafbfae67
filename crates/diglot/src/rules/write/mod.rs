//! What is written, and what the writing statement sees of it.

lints! {
    conflict_target = CONFLICT_TARGET,
    key_shift = KEY_SHIFT,
    on_conflict_without_target = ON_CONFLICT_WITHOUT_TARGET,
    or_replace = OR_REPLACE,
    returning_reads_target = RETURNING_READS_TARGET,
    unit_read_after_write = UNIT_READ_AFTER_WRITE,
    update_from_many = UPDATE_FROM_MANY,
    update_reads_target = UPDATE_READS_TARGET,
    upsert_twice = UPSERT_TWICE,
}
