//! How a test breaks a database, and how it looks at all of it.

use std::time::Duration;

use ff_core::engine_error::EngineError;

use crate::harness::{Harness, Tables, id_in};

/// What differs between two runs whatever is masked: numbers of events, and the server's own clock.
const UNSTABLE: [&str; 2] = ["event_id", "committed_at_ms"];

impl Harness {
    /// Every row of every table as `table|row`.
    pub(crate) async fn every_row(&self) -> Vec<String> {
        let selects = match self.tables() {
            Tables::Sqlite(..) => {
                let named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ff!_%' ESCAPE '!'";
                let mut selects = Vec::new();
                for table in self.texts(named).await {
                    let columns = self.texts(&format!("SELECT name FROM pragma_table_info('{table}')")).await;
                    let columns = columns.iter().filter(|column| !UNSTABLE.contains(&column.as_str()));
                    let shown: Vec<String> = columns.map(|column| format!("quote({column})")).collect();
                    selects.push(format!("SELECT '{table}|' || {} FROM {table}", shown.join(" || '|' || ")));
                }
                selects
            }
            Tables::Postgres(_) => {
                let named = "SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition \
                             AND relnamespace = 'public'::regnamespace AND relname LIKE 'ff!_%' ESCAPE '!'";
                let [first, second] = UNSTABLE;
                let shown = format!("(to_jsonb(t) - '{first}' - '{second}')::text");
                let tables = self.texts(named).await.into_iter();
                tables.map(|table| format!("SELECT '{table}|' || {shown} FROM {table} t")).collect()
            }
        };
        self.texts(&selects.join(" UNION ALL ")).await
    }

    /// From here on a table refuses rows that are inserted, updated or deleted.
    pub(crate) async fn refuse(&self, verb: &str, table: &str) {
        let trigger = format!("CREATE TRIGGER ff_fault BEFORE {verb} ON {table}");
        match self.tables() {
            Tables::Sqlite(..) => self.alter(&format!("{trigger} BEGIN SELECT RAISE(ABORT, 'a fault'); END")).await,
            Tables::Postgres(_) => {
                let body = "BEGIN RAISE EXCEPTION 'a fault'; END";
                let function = "CREATE OR REPLACE FUNCTION ff_fault() RETURNS trigger LANGUAGE plpgsql";
                self.alter(&format!("{function} AS '{}'", body.replace('\'', "''"))).await;
                self.alter(&format!("{trigger} FOR EACH ROW EXECUTE FUNCTION ff_fault()")).await;
            }
        }
    }

    /// Takes the last refusal back.
    pub(crate) async fn accept(&self, table: &str) {
        match self.tables() {
            Tables::Sqlite(..) => self.alter("DROP TRIGGER ff_fault").await,
            Tables::Postgres(_) => self.alter(&format!("DROP TRIGGER ff_fault ON {table}")).await,
        }
    }

    /// Writes and reads through every door, which needs clean connections. On SQLite, whatever waited for the
    /// writer is done then.
    pub(crate) async fn canary(&self) {
        for _ in 0..3 {
            let id = id_in(1);
            let refused = self.backend.set_execution_tag(&id, "canary.tag", "sings").await;
            assert!(!matches!(refused, Err(EngineError::Transport { .. })), "a connection is not clean: {refused:?}");
            self.backend.read_execution_state(&id).await.expect("a clean connection");
        }
    }

    /// Waits until nothing of a dropped operation runs in the database any more, nor comes to it: its connection is
    /// closed, and a server may read a statement that was sent before long after that. So every connection is back in
    /// its pool, and there are no sessions but theirs.
    pub(crate) async fn quiet(&self) {
        let sessions = "SELECT count(*) FROM pg_stat_activity \
                        WHERE datname = current_database() AND backend_type = 'client backend'";
        let Tables::Postgres(backend) = self.tables() else { return };
        let pools: Vec<_> = std::iter::once(backend.pool()).chain(backend.sweeping_pool_for_test()).collect();
        let are_back = || pools.iter().all(|pool| pool.num_idle() == pool.size() as usize);
        let own = || pools.iter().map(|pool| i64::from(pool.size())).sum::<i64>();
        while !are_back() || self.number(sessions).await != own() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
