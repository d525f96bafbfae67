SELECT set_config('ff_sql.shards', $1, false)
