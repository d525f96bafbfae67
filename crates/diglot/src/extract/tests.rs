//! What is read of files in other languages.

use super::{Built, Packages, gives, read};
use crate::source::{Role, SourceFile};

fn statements(path: &str, text: &str) -> Vec<(String, String)> {
    let file = read(path, text, Role::Statements);
    assert!(file.text.len() >= text.len(), "every byte has its place");
    let of = |one: &crate::source::Embedded| {
        let sql = file.text[one.range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        let place = file.place(one.place.clone());
        assert_eq!(&text[place], &file.text[one.place.clone()], "the name stands where it stood");
        (one.name.clone(), if one.holes.is_empty() { sql } else { format!("built: {sql}") })
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
        ("Move_update_lot", "UPDATE lot SET bay = $1 WHERE id = $2"),
        ("Move_select_lot", "SELECT id FROM lot"),
        ("Move_delete_lot", "DELETE FROM lot"),
        ("Move_select_lot_2", "SELECT count(*) FROM lot"),
        ("all", "built: SELECT name FROM lot ORDER BY {column}"),
        ("some", "SELECT name FROM lot LIMIT :n"),
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
        ("add_lot_delete_lot", "DELETE FROM lot WHERE id = ?"),
        ("add_lot_select_lot", "SELECT id FROM lot"),
        ("add_lot_select_lot_2", "built: SELECT {columns} FROM lot"),
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
                assert!(read(path, text, role).text.len() >= text.len(), "{path}: {text}");
            }
        }
    }
}

#[test]
fn constants_are_followed_through_what_puts_them_together() {
    let go = r#"package store

const columns = "id, name"
const pick = "SELECT " + columns + ` FROM lot WHERE id = $1`
const pickLocked = pick + ` FOR UPDATE`
const base = `SELECT name FROM bay`
const byName = base + " WHERE name = $1"

var listed = fmt.Sprintf("SELECT %s FROM lot LIMIT %d", columns, 20)
var both = strings.Join([]string{"SELECT id", "FROM lot"}, " ")

func (s *store) run() { s.db.Query(pick); s.db.Query(pickLocked); s.db.Query(byName) }
"#;
    let expected = [
        ("pick", "SELECT id, name FROM lot WHERE id = $1"),
        ("pickLocked", "SELECT id, name FROM lot WHERE id = $1 FOR UPDATE"),
        ("byName", "SELECT name FROM bay WHERE name = $1"),
        ("listed", "SELECT id, name FROM lot LIMIT 20"),
        ("both", "SELECT id FROM lot"),
    ];
    assert_eq!(statements("lot.go", go), pairs(&expected));
    let rust = r##"
const COLUMNS: &str = "id, name";
const TABLE: &str = "lot";
const ALL: &str = concatcp!("SELECT ", COLUMNS, " FROM ", TABLE);
async fn one(db: &Db) { sqlx::query(&format!("SELECT {COLUMNS} FROM {} WHERE id = ?1", TABLE)).fetch(db) }
async fn own(db: &Db) {
    let order = "ORDER BY id";
    sqlx::query(&format!("{ALL} {order}")).fetch(db)
}
"##;
    let expected = [("one", "SELECT id, name FROM lot WHERE id = ?1"), ("own", "SELECT id, name FROM lot ORDER BY id")];
    assert_eq!(statements("lot.rs", rust), pairs(&expected));
}

#[test]
fn constants_of_other_files_of_the_folder_are_followed_and_shown_where_they_are_named() {
    let files = [
        ("store/names.go", "package store\nconst lotColumns = \"id, bay\"\n"),
        ("store/lot.go", "package store\nconst pick = \"SELECT \" + lotColumns + \" FROM lot\"\n"),
        ("other/names.go", "package other\nconst lotColumns = \"no\"\n"),
    ];
    let packages = Packages::new(files, []);
    let (path, text) = files[1];
    let file = packages.read(path, text, Role::Statements, &Built::default());
    let one = &file.embedded[0];
    assert_eq!(&file.text[one.range.clone()], "SELECT id, bay FROM lot");
    let bay = one.range.start + "SELECT id, ".len();
    assert_eq!(&text[file.place(bay..bay + 3)], "lotColumns");
    let from = one.range.start + "SELECT id, bay ".len();
    assert_eq!(&text[file.place(from..from + 4)], "FROM");
    assert_eq!(file.line_column(from).0, 2);
}

#[test]
fn what_a_function_adds_to_a_text_belongs_to_it() {
    let go = r#"package store

func (s *store) find(bay string) {
	query := "SELECT id FROM lot"
	query += " WHERE bay = $1"
	s.db.Query(query, bay)
}

func (s *store) list(newest bool, bay string) {
	query := "SELECT id FROM lot WHERE kept = $1"
	if bay != "" {
		query += " AND bay = $2"
	}
	query = query + " ORDER BY id"
	s.db.Query(query)
}

func (s *store) many(bays []string) {
	var b strings.Builder
	b.WriteString("DELETE FROM lot WHERE ")
	for i, bay := range bays {
		b.WriteString(fmt.Sprintf("bay = $%d OR ", i))
	}
	s.db.Exec(b.String())
}
"#;
    let expected = [
        ("find", "SELECT id FROM lot WHERE bay = $1"),
        ("list", "SELECT id FROM lot WHERE kept = $1 ORDER BY id"),
        ("list_whole", "SELECT id FROM lot WHERE kept = $1 AND bay = $2 ORDER BY id"),
        ("many", "built: DELETE FROM lot WHERE {bay = $ i OR}"),
    ];
    assert_eq!(statements("lot.go", go), pairs(&expected));
    let rust = r#"
fn find(bay: &str, ids: &[i64]) {
    let mut builder: QueryBuilder<Sqlite> = QueryBuilder::new("SELECT id FROM lot WHERE bay = ");
    builder.push_bind(bay).push(" AND id IN (");
    let mut items = builder.separated(", ");
    for id in ids {
        items.push_bind(id);
    }
    items.push_unseparated(")");
    builder.build()
}
"#;
    let expected = [("find", "SELECT id FROM lot WHERE bay = $1 AND id IN (sqlc.slice('id'))")];
    assert_eq!(statements("lot.rs", rust), pairs(&expected));
}

#[test]
fn what_the_settings_say_of_a_helper_stands_in_its_place() {
    let go = r#"package store
func (s *store) get(n int) { s.db.Query("SELECT id FROM lot WHERE id IN (" + placeholders(n) + ") AND bay = $1") }
func (s *store) in(n int) { s.db.Query(fmt.Sprintf("SELECT id FROM lot WHERE id IN %s", sq.inClause(n))) }
func (s *store) list(where []string) { s.db.Query("SELECT id FROM lot WHERE " + strings.Join(where, " AND ")) }
func (s *store) some(w string) { s.db.Query("SELECT id FROM lot" + filter(w) + " ORDER BY id") }
func (s *store) add(args []any) { s.db.Exec("INSERT INTO lot (id, bay) VALUES (" + placeholders(len(args)) + ")") }
func (s *store) cols() { s.db.Query("SELECT " + s.columns() + " FROM lot WHERE id = $" + strconv.Itoa(n)) }
"#;
    let built = Built {
        lists: vec!["placeholders".to_owned(), "inClause".to_owned()],
        conditions: vec!["strings.Join".to_owned(), "filter".to_owned()],
        texts: [("columns".to_owned(), "id, bay".to_owned())].into(),
        ..Built::default()
    };
    let packages = Packages::new([("lot.go", go)], []);
    let file = packages.read("lot.go", go, Role::Statements, &built);
    let read: Vec<String> = file
        .embedded
        .iter()
        .map(|one| {
            assert!(one.holes.is_empty(), "{}", one.name);
            file.text[one.range.clone()].split_whitespace().collect::<Vec<_>>().join(" ")
        })
        .collect();
    let expected = [
        "SELECT id FROM lot WHERE id IN (sqlc.slice('id')) AND bay = $1",
        "SELECT id FROM lot WHERE id IN (sqlc.slice('id'))",
        "SELECT id FROM lot WHERE :conditions",
        "SELECT id FROM lot WHERE :conditions ORDER BY id",
        "INSERT INTO lot (id, bay) VALUES ($1, $2)",
        "SELECT id, bay FROM lot WHERE id = $1",
    ];
    assert_eq!(read, expected);
    // Without a word nobody takes responsibility: what its place does not tell is told.
    let file = packages.read("lot.go", go, Role::Statements, &Built::default());
    let built = file.embedded.iter().filter(|one| !one.holes.is_empty());
    assert_eq!(built.map(|one| one.name.as_str()).collect::<Vec<_>>(), ["some", "cols"]);
}

#[test]
fn a_text_that_goes_on_elsewhere_is_no_statement() {
    let go = r#"package store
func a() { b.add("SELECT id FROM lot WHERE id = $", id) }
func b() error { return errors.New("Update failed: no set of " + name) }
func c() error { return fmt.Errorf("Delete from cache: %w", err) }
"#;
    assert_eq!(statements("lot.go", go), pairs(&[]));
}

#[test]
fn what_is_compiled_for_tests_is_not_read() {
    let rust = r#"
fn get() { query("SELECT id FROM lot") }
#[cfg(test)]
mod tests {
    fn get() { query("SELECT 1 FROM lot") }
}
#[tokio::test]
async fn works() { query("SELECT 2 FROM lot") }
#[cfg(not(test))]
fn put() { query("DELETE FROM lot") }
#[cfg(all(test, feature = "x"))]
const KEPT: &str = "SELECT 3 FROM lot";
"#;
    assert_eq!(statements("lot.rs", rust), pairs(&[("get", "SELECT id FROM lot"), ("put", "DELETE FROM lot")]));
}

#[test]
fn methods_of_one_name_are_told_apart_by_their_types() {
    let rust = r#"
impl Reads for LotStore { fn get(&self) { query("SELECT id FROM lot") } }
impl<T: Kept> Reads for BayStore<T> { fn get(&self) { query("SELECT id FROM bay") } }
"#;
    let expected = [("LotStore_get", "SELECT id FROM lot"), ("BayStore_get", "SELECT id FROM bay")];
    assert_eq!(statements("lot.rs", rust), pairs(&expected));
}

#[test]
fn what_a_function_gathers_in_a_list_is_written_out() {
    let go = r#"package store
func (d *DB) ListLots(bay *string, kept bool) {
	where, args := []string{"kept = ?"}, []any{kept}
	fields := []string{"id", "bay"}
	if v := bay; v != nil &&
		*v != "" {
		where, args = append(where, "bay = ?"), append(args, *v)
	}
	query := "SELECT " + strings.Join(fields, ", ") + " FROM lot WHERE " + strings.Join(where, " AND ") + " ORDER BY id"
	if limit > 0 {
		query = fmt.Sprintf("%s LIMIT %d", query, limit)
	}
	d.db.Query(query, args...)
}

func (d *DB) UpdateLot(bay, name *string) {
	set := []string{}
	if bay != nil {
		set = append(set, "bay = "+placeholder(1))
	}
	if name != nil {
		set = append(set, "name = "+placeholder(2))
	}
	d.db.Exec("UPDATE lot SET "+strings.Join(set, ", ")+" WHERE id = "+placeholder(len(args)+1))
}

func (d *DB) Any(bays []string) {
	where := []string{}
	for range bays {
		where = append(where, "bay = ?")
	}
	d.db.Query("SELECT id FROM lot WHERE " + strings.Join(where, " OR "))
}
"#;
    let built = Built { parameters: vec!["placeholder".to_owned()], ..Built::default() };
    let file = Packages::new([("lot.go", go)], []).read("lot.go", go, Role::Statements, &built);
    let read: Vec<(&str, String)> = file
        .embedded
        .iter()
        .map(|one| (one.name.as_str(), file.text[one.range.clone()].split_whitespace().collect::<Vec<_>>().join(" ")))
        .collect();
    let expected = [
        ("ListLots", "SELECT id, bay FROM lot WHERE kept = ? ORDER BY id"),
        ("ListLots_whole", "SELECT id, bay FROM lot WHERE kept = ? AND bay = ? ORDER BY id LIMIT ?"),
        ("UpdateLot", "UPDATE lot SET bay = $1, name = $2 WHERE id = $3"),
        ("Any", "SELECT id FROM lot WHERE {bay = ?}"),
    ];
    assert_eq!(read, expected.map(|(name, sql)| (name, sql.to_owned())));
    assert!(!file.embedded[3].holes.is_empty() && file.embedded[..3].iter().all(|one| one.holes.is_empty()));
    let rust = r#"
fn nested(bay: Option<&str>) {
    let mut conditions = vec!["kept = 1"];
    if let Some(bay) = bay {
        if bay.is_empty() {
            conditions.push("bay IS NULL");
        } else {
            conditions.push("bay = ?");
        }
    }
    query(&format!("SELECT id FROM lot WHERE {}", conditions.join(" AND ")))
}

fn list(bay: Option<&str>) {
    let mut conditions = vec!["kept = 1"];
    if bay.is_some() {
        conditions.push("bay = ?");
    }
    query(&format!("SELECT id FROM lot WHERE {}", conditions.join(" AND ")))
}
"#;
    let expected = [
        ("nested", "built: SELECT id FROM lot WHERE kept = 1 AND {bay = ?}"),
        ("nested_whole", "built: SELECT id FROM lot WHERE kept = 1 AND bay IS NULL AND {bay = ?}"),
        ("list", "SELECT id FROM lot WHERE kept = 1"),
        ("list_whole", "SELECT id FROM lot WHERE kept = 1 AND bay = ?"),
    ];
    assert_eq!(statements("lot.rs", rust), pairs(&expected));
}

#[test]
fn a_function_that_is_handed_on_has_the_name_of_the_one_around_it() {
    let go = r#"package store
func (s *store) Move(id int) error {
	return s.inTx(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE lot SET bay = $1 WHERE id = $2", bay, id)
		return err
	})
}
func (s *store) Count() (n int, err error) {
	err = s.with(func(c conn) (bool, error) { return c.Query("SELECT count(*) FROM lot").Scan(&n) })
	return
}
func (s *store) Hooks() { s.on(func(c conn) func() map[string]int { c.Exec("DELETE FROM lot"); return nil }) }
"#;
    let expected = [
        ("Move", "UPDATE lot SET bay = $1 WHERE id = $2"),
        ("Count", "SELECT count(*) FROM lot"),
        ("Hooks", "DELETE FROM lot"),
    ];
    assert_eq!(statements("lot.go", go), pairs(&expected));
}

#[test]
fn marks_that_are_written_as_often_as_there_are_values_are_a_list() {
    let go = r#"package store
func (s *store) Drop(ids []any) {
	s.db.Exec("DELETE FROM lot WHERE id IN (?" + strings.Repeat(", ?", len(ids)-1) + ") AND kept = ?", ids...)
}
func (s *store) Get(ids []any) { s.db.Query(`SELECT id FROM lot WHERE id IN (` + strings.TrimSuffix(strings.Repeat("?,", len(ids)), ",") + `)`) }
func (s *store) Add(n int) { s.db.Exec("INSERT INTO lot (id, bay) VALUES (?, ?)" + strings.Repeat(", (?, ?)", n-1)) }
func (s *store) Some(ids []any) {
	marks := make([]string, len(ids))
	for i := range ids {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	s.db.Query("SELECT bay FROM lot WHERE id IN (" + strings.Join(marks, ", ") + ")")
}
func (s *store) Each(ids []any) {
	var b strings.Builder
	b.WriteString("DELETE FROM bay WHERE id IN (")
	for i := range ids {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("?")
	}
	b.WriteString(")")
}
func (s *store) Given(parts []string) { s.db.Query("SELECT id FROM lot WHERE " + strings.Join(parts, " AND ")) }
"#;
    let expected = [
        ("Drop", "DELETE FROM lot WHERE id IN (sqlc.slice('id')) AND kept = ?"),
        ("Get", "SELECT id FROM lot WHERE id IN (sqlc.slice('id'))"),
        ("Add", "INSERT INTO lot (id, bay) VALUES (?, ?)"),
        ("Some", "SELECT bay FROM lot WHERE id IN (sqlc.slice('id'))"),
        ("Each", "DELETE FROM bay WHERE id IN (sqlc.slice('id'))"),
        ("Given", "SELECT id FROM lot WHERE :conditions"),
    ];
    assert_eq!(statements("lot.go", go), pairs(&expected));
    let rust = r#"
fn drop(ids: &[i64]) {
    let marks = ids.iter().map(|_| "?").collect::<Vec<_>>().join(", ");
    query(&format!("DELETE FROM lot WHERE id IN ({marks})"))
}
fn get(ids: &[i64]) { query(&format!("SELECT id FROM lot WHERE id IN ({})", vec!["?"; ids.len()].join(","))) }
fn named(names: &[&str]) { query(&format!("SELECT id FROM lot WHERE id IN ({})", names.join(","))) }
"#;
    let expected = [
        ("drop", "DELETE FROM lot WHERE id IN (sqlc.slice('id'))"),
        ("get", "SELECT id FROM lot WHERE id IN (sqlc.slice('id'))"),
        ("named", "SELECT id FROM lot WHERE id IN (sqlc.slice('id'))"),
    ];
    assert_eq!(statements("lot.rs", rust), pairs(&expected));
}

#[test]
fn a_text_that_is_begun_by_writing_it_is_filled_and_grows() {
    let rust = r#"
fn find(params: &mut Vec<Value>, bay: Option<&str>) {
    params.push(id.into());
    let first = format!("${}", params.len());
    let mut sql = String::new();
    write!(&mut sql, "SELECT id FROM lot WHERE id = {first} OR of = {first}").unwrap();
    if bay.is_some() {
        let second = format!("${}", params.len());
        write!(&mut sql, " AND bay = {second}").unwrap();
    }
    sql.push_str(" ORDER BY id");
}
"#;
    let expected = [
        ("find", "SELECT id FROM lot WHERE id = $1 OR of = $1 ORDER BY id"),
        ("find_whole", "SELECT id FROM lot WHERE id = $1 OR of = $1 AND bay = $2 ORDER BY id"),
    ];
    assert_eq!(statements("lot.rs", rust), pairs(&expected));
}

#[test]
fn a_schema_may_begin_with_what_sets_the_session() {
    let text = "const A: &str = \"PRAGMA user_version = 3;\\nCREATE TABLE lot (id TEXT);\";\n\
                const B: &str = \"BEGIN EXCLUSIVE TRANSACTION; CREATE TABLE bay (id TEXT); COMMIT\";\n\
                const C: &str = \"PRAGMA user_version\";\nfn d() { run(&format!(\"CREATE TABLE {} (id TEXT)\", crate_name)) }\n";
    let file = read("lot.rs", text, Role::Schema);
    assert!(schema(&file).contains("CREATE TABLE lot (id TEXT);"), "{}", schema(&file));
    assert!(schema(&file).contains("CREATE TABLE bay (id TEXT);"), "{}", schema(&file));
    assert!(!schema(&file).contains("crate"), "{}", schema(&file));
    assert_eq!(statements("lot.rs", text), pairs(&[]));
    let told: Vec<&str> = file.embedded.iter().map(|one| one.unread.as_str()).collect();
    assert_eq!(told, ["CREATE TABLE {crate_name} (id TEXT)"]);
    assert!(file.embedded.iter().all(|one| file.text.get(one.range.clone()).is_some()));
}

#[test]
fn what_a_file_gives_is_told_by_what_stands_in_it() {
    let (both, none) = ([Role::Statements, Role::Schema], Vec::new());
    let table = "CREATE TABLE lot (id INT);\n";
    let headed = "-- name: lot_all :many\nSELECT id FROM lot;\n";
    assert_eq!(gives("a.sql", table), [Role::Schema]);
    assert_eq!(gives("a.sql", headed), [Role::Statements]);
    assert_eq!(gives("a.sql", &format!("{table}{headed}")), both);
    assert_eq!(gives("a.sql", "SELECT id FROM lot WHERE id = ?"), [Role::Statements]);
    assert_eq!(gives("a.sql", "-- nothing\n"), none);
    assert_eq!(gives("a.go", "const all = `CREATE TABLE lot (id INT)`\n"), [Role::Schema]);
    assert_eq!(gives("a.go", "const all = `SELECT id FROM lot`\nconst t = `DROP TABLE lot`\n"), both);
    assert_eq!(gives("a.rs", "const WORDS: &str = \"no SQL\";\n"), none);
}

#[test]
fn constants_of_other_folders_are_followed() {
    let go = "package lite\nimport \"shop.test/stock/words\"\n\
        const late = \"SELECT id FROM lot WHERE state = '\" + words.Late + \"'\"\n\
        const open = \"SELECT id FROM lot ORDER BY \" + words.Open\n";
    let words = "package words\nconst stem = \"la\"\nconst Late = stem + \"te\"\n";
    let rust = "use names::words::{OPEN, LATE};\n\
        fn open() { query(&format!(\"SELECT id FROM lot WHERE state = '{OPEN}' ORDER BY {LATE}\")) }\n";
    let files = [("store/lite/lot.go", go), ("lots/src/lot.rs", rust)];
    let alone = Packages::new(files, []);
    for place in ["words", "names/src/words.rs"] {
        assert!(alone.places().contains(place), "{:?}", alone.places());
    }
    let others = [("words/words.go", words), ("names/src/words.rs", "pub const OPEN: &str = \"open\";\n")];
    let packages = Packages::new(files, others);
    let read = |(path, text): (&str, &str)| {
        let file = packages.read(path, text, Role::Statements, &Built::default());
        let of = |one: &crate::source::Embedded| (file.text[one.range.clone()].to_owned(), one.holes.len());
        file.embedded.iter().map(of).collect::<Vec<_>>()
    };
    let go = read(files[0]);
    assert_eq!(go[0], ("SELECT id FROM lot WHERE state = 'late'".to_owned(), 0));
    assert_eq!(go[1].1, 1);
    assert_eq!(read(files[1]), [("SELECT id FROM lot WHERE state = 'open' ORDER BY {LATE}".to_owned(), 1)]);
}

#[test]
fn a_part_is_known_by_the_name_behind_its_name() {
    let rust = "static TABLE: LazyLock<String> = LazyLock::new(|| env::var(\"LOTS\").unwrap());\n\
        fn all() { let table = TABLE.as_str(); query(&format!(\"SELECT id FROM {table} WHERE id > 1\")) }\n";
    assert_eq!(statements("lot.rs", rust), pairs(&[("all", "built: SELECT id FROM {TABLE} WHERE id > 1")]));
    for name in ["TABLE", "table"] {
        let mut built = Built::default();
        built.texts.insert(name.to_owned(), "lot".to_owned());
        let file = Packages::new([("lot.rs", rust)], []).read("lot.rs", rust, Role::Statements, &built);
        assert_eq!(file.text[file.embedded[0].range.clone()], *"SELECT id FROM lot WHERE id > 1");
    }
}

#[test]
fn a_function_that_only_drops_takes_no_table_from_the_schema() {
    let rust = "fn make() { query(\"CREATE TABLE lot (id bigint)\") }\nfn end() { query(\"DROP TABLE lot\") }\n\
                fn anew() { query(\"DROP TABLE bay\"); query(\"CREATE TABLE bay (id bigint)\") }\n";
    let file = read("lot.rs", rust, Role::Schema);
    assert_eq!(schema(&file), "CREATE TABLE lot (id bigint); DROP TABLE bay; CREATE TABLE bay (id bigint);");
}
