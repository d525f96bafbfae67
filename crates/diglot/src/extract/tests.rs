//! What is read of files in other languages.

use super::read;
use crate::source::{Role, SourceFile};

fn statements(path: &str, text: &str) -> Vec<(String, String)> {
    let file = read(path, text, Role::Statements);
    assert_eq!(file.text.len(), text.len(), "every byte has its place");
    let of = |one: &crate::source::Embedded| {
        let sql = file.text[one.range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(&text[one.place.clone()], &file.text[one.place.clone()], "the name stands where it stood");
        (one.name.clone(), if one.is_built { "built".to_owned() } else { sql })
    };
    file.embedded.iter().map(of).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, sql)| ((*name).to_owned(), (*sql).to_owned())).collect()
}

#[test]
fn constants_of_go_are_statements_under_their_names() {
    let text = r#"package store

import "database/sql" // "SELECT 1 FROM comment"

/* `SELECT 2 FROM comment` */
const selectLot = "SELECT id, 'a''b' FROM lot WHERE id = $1"

const insertLot string = "" +
	"INSERT INTO lot (id, name)" +
	" VALUES ($1, $2)"

var (
	deleteLot = `
		-- keeps the log
		DELETE FROM lot
		WHERE id = $1;`
	message = "Update failed: no set of lots"
	greeting = "select a lot, please"
)
"#;
    let expected = [
        ("selectLot", "SELECT id, 'a''b' FROM lot WHERE id = $1"),
        ("insertLot", "INSERT INTO lot (id, name) VALUES ($1, $2)"),
        ("deleteLot", "-- keeps the log DELETE FROM lot WHERE id = $1;"),
    ];
    assert_eq!(statements("lot.go", text), pairs(&expected));
}

#[test]
fn literals_in_calls_are_named_after_their_function() {
    let text = r#"
func (s *store) Move(ctx context.Context) error {
	_, err := s.db.ExecContext(ctx, "UPDATE lot SET bay = $1 WHERE id = $2", bay, id)
	rows, err := s.db.Query(`SELECT id FROM lot`)
	query := "DELETE FROM lot"
	return run(&stmt{sql: "SELECT count(*) FROM lot"})
}

func all() { db.Query("SELECT name FROM lot ORDER BY " + column) }
func some() { db.Query(fmt.Sprintf("SELECT name FROM lot LIMIT %d", n)) }
"#;
    let expected = [
        ("Move", "UPDATE lot SET bay = $1 WHERE id = $2"),
        ("Move_2", "SELECT id FROM lot"),
        ("query", "DELETE FROM lot"),
        ("sql", "SELECT count(*) FROM lot"),
        ("all", "built"),
        ("some", "built"),
    ];
    assert_eq!(statements("lot.go", text), pairs(&expected));
}

#[test]
fn literals_of_rust_are_read_with_their_escapes_and_hashes() {
    let text = r###"
/// Not `"SELECT 1 FROM doc"`.
pub(crate) const PICK: &'static str = "SELECT \"id\" FROM lot \
    WHERE id = ?1";
static KEEP: &str = r#"INSERT INTO lot ("id") VALUES (?1)"#;
const ALL: &str = concat!("SELECT id ", "FROM lot");

impl<'a> Store<'a> {
    async fn add_lot(&self, c: char) -> Result<(), Error> {
        let quote = '"';
        sqlx::query!("DELETE FROM lot WHERE id = ?", id).execute(&self.pool).await?;
        sqlx::query_as::<_, Lot>("SELECT id FROM lot").fetch_all(&self.pool).await?;
        sqlx::query(&format!("SELECT {columns} FROM lot")).fetch_all(&self.pool).await
    }
}
"###;
    let expected = [
        ("PICK", "SELECT \"id\" FROM lot WHERE id = ?1"),
        ("KEEP", "INSERT INTO lot (\"id\") VALUES (?1)"),
        ("ALL", "SELECT id FROM lot"),
        ("add_lot", "DELETE FROM lot WHERE id = ?"),
        ("add_lot_2", "SELECT id FROM lot"),
        ("add_lot_3", "built"),
    ];
    assert_eq!(statements("lot.rs", text), pairs(&expected));
}

#[test]
fn the_end_of_a_line_that_is_written_as_an_escape_ends_a_comment() {
    let text =
        "const pick = \"-- the oldest\\nSELECT id -- and no more\\nFROM lot\"\nconst drop = \"DELETE FROM lot\"\n";
    let expected = [("pick", "-- the oldest SELECT id -- and no more FROM lot"), ("drop", "DELETE FROM lot")];
    assert_eq!(statements("lot.go", text), pairs(&expected));
    let file = read("lot.go", text, Role::Statements);
    assert!(file.text.contains("SELECT id -- and no more \nFROM lot"), "{}", file.text);
    assert_eq!(file.line_column(text.find("DELETE").unwrap()), (2, 15));
}

fn schema(file: &SourceFile) -> String {
    file.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_schema_in_a_constant_is_a_migration() {
    let text = "const lotSchema = `\nCREATE TABLE lot (id TEXT);\nCREATE INDEX lot_id ON lot (id);\n`\n\
                const addBay = \"ALTER TABLE lot ADD COLUMN bay TEXT\"\nconst pick = \"SELECT id FROM lot\"\n";
    let file = read("lot.go", text, Role::Schema);
    let expected =
        "CREATE TABLE lot (id TEXT); CREATE INDEX lot_id ON lot (id); ; ALTER TABLE lot ADD COLUMN bay TEXT;";
    assert_eq!((schema(&file).as_str(), file.text.len(), file.shown()), (expected, text.len(), text));
    assert_eq!(statements("lot.go", text), pairs(&[("pick", "SELECT id FROM lot")]));
}

#[test]
fn the_head_of_a_file_of_queries_is_a_schema() {
    let text = "CREATE TABLE lot (id TEXT);\n\n-- Picks one.\n-- name: LotPick :one\nSELECT id FROM lot;\n";
    let [statements, head] = [Role::Statements, Role::Schema].map(|role| read("lot.sql", text, role));
    assert_eq!(schema(&head), "CREATE TABLE lot (id TEXT);");
    assert_eq!(schema(&statements), "-- Picks one. -- name: LotPick :one SELECT id FROM lot;");
    assert_eq!((statements.text.len(), head.text.len()), (text.len(), text.len()));
}

#[test]
fn no_file_is_too_strange_to_be_read() {
    for text in
        ["\"", "`", "r#\"", "'", "/*", "'\\", "\"\\", "const x = \"SELECT é FROM \\u{e9}\"", "r", "concat!(\"", "é'é"]
    {
        for path in ["a.go", "a.rs", "a.sql"] {
            for role in [Role::Statements, Role::Schema] {
                assert_eq!(read(path, text, role).text.len(), text.len(), "{path}: {text}");
            }
        }
    }
}
