//! Changes of the tables themselves.

use serde_json::json;

use crate::place::{Tables, on_both};

#[tokio::test]
async fn tables_get_another_number_of_partitions_where_there_are_partitions() {
    on_both(|place| async move {
        let id = place.create("mail", "letter").await;
        let asked = place.run(&["migrate", "--partitions", "3"]);
        let Tables::Postgres(pool) = &place.tables else {
            assert!(asked.code == 1 && asked.err.contains("no partitions"), "{}", asked.err);
            return;
        };
        assert_eq!(asked.out, "every partitioned table has 3 partitions\n", "{}", asked.err);
        let count = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'ff_exec_core'::regclass";
        assert_eq!(sqlx::query_scalar::<_, i64>(count).fetch_one(pool).await.unwrap(), 3);
        assert_eq!(place.json(&["show", id.as_str()])["id"], json!(id.to_string()));
        assert_eq!(place.run(&["migrate", "--partitions", "257"]).code, 2);
        assert_eq!(place.run(&["migrate", "--check", "--partitions", "2"]).code, 2);
    })
    .await;
}
