//! What a Postgres that is spread over several nodes refuses, or sends to more than one of them.

pub(super) mod in_steps;
pub(super) mod shards;

lints! {
    case_operand = CASE_OPERAND,
    function_on_shards = FUNCTION_ON_SHARDS,
    insert_by_way = INSERT_BY_WAY,
    insert_in_with = INSERT_IN_WITH,
    local_with_shards = LOCAL_WITH_SHARDS,
    lock_on_shards = LOCK_ON_SHARDS,
    moving_function = MOVING_FUNCTION,
    shard_key = SHARD_KEY,
    shard_key_set = SHARD_KEY_SET,
    shards_differ = SHARDS_DIFFER,
}
