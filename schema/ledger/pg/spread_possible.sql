SELECT to_regproc('create_distributed_table') IS NOT NULL
