SELECT set_config('ff_sql.partitions', $1, false)
