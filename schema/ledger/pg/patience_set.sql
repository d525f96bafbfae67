SELECT set_config('lock_timeout', '0', false)
