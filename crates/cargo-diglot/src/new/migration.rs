//! `cargo diglot new migration`: the next step of both databases, so that a running system goes on and nothing is lost.

use std::fs;
use std::path::Path;

use diglot::Inputs;
use diglot::dialect::{Both, Dialect};
use diglot::schema::{self, Schema, Table};
use diglot::types::Base;
use diglot_tools::draft::spelled;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Executor, Row};

use super::numbering::Numbering;
use super::rebuild::{self, Edit};
use crate::cli::{Change, NewMigration};
use crate::failure::Failure;
use crate::{Outcome, check, prepare, report, runtime};

/// How long a step waits for a table.
const LIMIT: &str = "SET LOCAL lock_timeout = '2s'";

/// A step of one database.
struct Page {
    /// Whether its statements are no transaction.
    alone: bool,
    /// Lines of comment before them.
    said: Vec<String>,
    statements: Vec<String>,
}

impl Page {
    fn of(statements: impl IntoIterator<Item = String>) -> Self {
        Self { alone: false, said: Vec::new(), statements: statements.into_iter().collect() }
    }

    fn alone(statements: impl IntoIterator<Item = String>) -> Self {
        Self { alone: true, ..Self::of(statements) }
    }
}

/// The steps of both databases; none for one that has nothing to do.
struct Step {
    /// What its files are named after.
    slug: String,
    pages: Both<Option<Page>>,
}

pub(crate) fn run(arguments: &NewMigration) -> Result<Outcome, Failure> {
    let root = check::root(&arguments.project)?;
    let inputs = diglot::build::load(&root)?;
    runtime()?.block_on(draft(&root, &inputs, &arguments.change))
}

async fn draft(root: &Path, inputs: &Inputs, change: &Change) -> Result<Outcome, Failure> {
    let mut connection = prepare::sqlite::migrated(inputs).await?;
    let now = connection.fetch_one("SELECT strftime('%Y%m%d%H%M%S', 'now')").await;
    let now = now.and_then(|row| row.try_get(0)).map_err(Failure::engine("ask SQLite for the time"))?;
    let schemas = Both::of(|dialect| {
        let files: Vec<_> = inputs.migrations(dialect).into_iter().map(|(id, _)| id).collect();
        schema::read(&inputs.sources, &files, dialect).0
    });
    let mut drafting = Drafting { inputs, schemas, connection: &mut connection };
    let step = drafting.step(change).await?;
    let numbering = Numbering::new(inputs, now);
    let paths = numbering.paths(&step.slug)?;
    for dialect in Dialect::ALL {
        let Some(page) = &step.pages[dialect] else {
            report::line(&format!("{} has nothing to do", dialect.title()));
            continue;
        };
        let path = root.join(&paths[dialect]);
        let failed = || Failure::io(format!("write {}", paths[dialect]));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed())?;
        }
        let statements = page.statements.iter().map(|sql| numbering.statement(dialect, sql)).collect::<Vec<String>>();
        let said = page.said.iter().map(|line| format!("-- {line}\n")).collect::<String>();
        let text = format!("{}{said}{}", numbering.head(dialect, page.alone), statements.concat());
        fs::write(&path, text).map_err(failed())?;
        report::line(&format!("wrote {}", paths[dialect]));
    }
    report::line("next: read both, then `cargo diglot check` and `cargo diglot prepare`");
    Ok(Outcome::Clean)
}

struct Drafting<'d> {
    inputs: &'d Inputs,
    schemas: Both<Schema>,
    connection: &'d mut SqliteConnection,
}

impl Drafting<'_> {
    async fn step(&mut self, change: &Change) -> Result<Step, Failure> {
        match change {
            Change::CreateTable { table } => self.create_table(table),
            Change::AddColumn { table, column, ty, not_null, default } => {
                self.add_column((table.as_str(), column.as_str()), ty, *not_null, default.as_deref()).await
            }
            Change::AddIndex { table, columns, unique } => self.add_index(table, columns, *unique),
            Change::RenameColumn { table, column, to } => {
                self.columns(table, &[column])?;
                let (own, to_name) = (spelled(column), spelled(to));
                let rename = format!("ALTER TABLE {} RENAME COLUMN {own} TO {to_name}", spelled(table));
                Ok(self.both(format!("{table}_{column}_to_{to}"), rename))
            }
            Change::RenameTable { table, to } => {
                self.columns(table, &[])?;
                let rename = format!("ALTER TABLE {} RENAME TO {}", spelled(table), spelled(to));
                Ok(self.both(format!("{table}_to_{to}"), rename))
            }
            Change::Widen { table, column, ty } => self.widen(table, column, ty).await,
            Change::DropColumn { table, column } => self.drop_column(table, column).await,
        }
    }

    /// The table on both databases, if it has the columns.
    fn columns(&self, table: &str, columns: &[&str]) -> Result<Both<&Table>, Failure> {
        let of = |dialect: Dialect| {
            let title = dialect.title();
            let missing = |what: String| Failure::Step { what };
            let found = self.schemas[dialect].tables.get(table).filter(|table| !table.view);
            let found = found.ok_or_else(|| missing(format!("{title} has no table `{table}`")))?;
            match columns.iter().find(|column| found.column(column).is_none()) {
                Some(column) => Err(missing(format!("`{table}` has no column `{column}` on {title}"))),
                None => Ok(found),
            }
        };
        let [sqlite, pg] = Dialect::ALL.map(of);
        Ok(Both { sqlite: sqlite?, pg: pg? })
    }

    /// A step of Postgres that wants a table for a moment.
    fn limited(&self, statements: impl IntoIterator<Item = String>) -> Page {
        let is_set = self.inputs.config.migrations.as_ref().is_some_and(|settings| settings.lock_timeout);
        let limit = (!is_set).then(|| LIMIT.to_owned());
        Page::of(limit.into_iter().chain(statements))
    }

    /// One statement that both databases read.
    fn both(&self, slug: String, sql: String) -> Step {
        let pages = Both { sqlite: Some(Page::of([sql.clone()])), pg: Some(self.limited([sql])) };
        Step { slug, pages }
    }

    fn create_table(&self, table: &str) -> Result<Step, Failure> {
        if let Some(dialect) =
            Dialect::ALL.into_iter().find(|dialect| self.schemas[*dialect].tables.contains_key(table))
        {
            return Err(Failure::Step { what: format!("{} has `{table}` already", dialect.title()) });
        }
        let name = spelled(table);
        let sqlite = format!(
            "CREATE TABLE {name} (\n    id    INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,\n    name  TEXT    NOT NULL\n) STRICT"
        );
        let pg = format!(
            "CREATE TABLE {name} (\n    id    bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,\n    name  text   NOT NULL\n)"
        );
        let pages = Both { sqlite: Some(Page::of([sqlite])), pg: Some(Page::of([pg])) };
        Ok(Step { slug: table.to_owned(), pages })
    }

    async fn add_column(
        &mut self,
        (table, column): (&str, &str),
        ty: &str,
        not_null: bool,
        default: Option<&str>,
    ) -> Result<Step, Failure> {
        self.columns(table, &[])?;
        if not_null && default.is_none() {
            let what =
                "a table with rows takes no column that is NOT NULL without a default: add --default SQL".to_owned();
            return Err(Failure::Step { what });
        }
        let (base, held) = self.held(ty)?;
        let name = spelled(column);
        let null = if not_null { " NOT NULL" } else { "" };
        let filled = default.map(|value| format!(" DEFAULT {value}")).unwrap_or_default();
        let guard = match base {
            Base::Bool => format!(" CHECK ({name} IN (0, 1))"),
            Base::Json => format!(" CHECK (json_valid({name}))"),
            Base::Uuid if held.eq_ignore_ascii_case("blob") => format!(" CHECK (length({name}) = 16)"),
            _ => String::new(),
        };
        let owner = spelled(table);
        let added = format!("ADD COLUMN {name} {held}{null}{filled}{guard}");
        // SQLite refuses some defaults only where there are rows.
        let one = "CREATE TEMP TABLE drafted (held); INSERT INTO drafted VALUES (1); ALTER TABLE drafted";
        self.try_on_sqlite(&format!("{one} {added}")).await?;
        let sqlite = format!("ALTER TABLE {owner} {added}");
        self.try_on_sqlite(&sqlite).await?;
        let pg = format!("ALTER TABLE {owner} ADD COLUMN {name} {ty}{null}{filled}");
        let pages = Both { sqlite: Some(Page::of([sqlite])), pg: Some(self.limited([pg])) };
        Ok(Step { slug: format!("{table}_{column}"), pages })
    }

    fn add_index(&self, table: &str, columns: &[String], unique: bool) -> Result<Step, Failure> {
        let found = self.columns(table, &columns.iter().map(String::as_str).collect::<Vec<&str>>())?;
        if !found.pg.partitioned_by.is_empty() {
            let what = format!(
                "`{table}` has partitions on Postgres, where no index is made CONCURRENTLY: `cargo diglot explain \
                 blocking-index` says how to make one"
            );
            return Err(Failure::Step { what });
        }
        let slug = format!("{table}_{}_{}", columns.join("_"), if unique { "key" } else { "idx" });
        let kind = if unique { "UNIQUE INDEX" } else { "INDEX" };
        let listed = columns.iter().map(|column| spelled(column)).collect::<Vec<String>>().join(", ");
        let (name, owner) = (spelled(&slug), spelled(table));
        let sqlite = format!("CREATE {kind} {name} ON {owner} ({listed})");
        let pg = format!("CREATE {kind} CONCURRENTLY IF NOT EXISTS {name} ON {owner} ({listed})");
        let pages = Both { sqlite: Some(Page::of([sqlite])), pg: Some(Page::alone([pg])) };
        Ok(Step { slug, pages })
    }

    async fn widen(&mut self, table: &str, column: &str, ty: &str) -> Result<Step, Failure> {
        let found = self.columns(table, &[column])?;
        let old = found.sqlite.column(column).map_or(String::new(), |column| column.declared.clone());
        let (_, held) = self.held(ty)?;
        let sql = format!("ALTER TABLE {} ALTER COLUMN {} TYPE {ty}", spelled(table), spelled(column));
        let mut pg = self.limited([sql.clone()]);
        if self.is_rewritten(&sql) {
            // A promise that nobody but the reader can give.
            pg.said.push(format!(
                "allow(table-rewrite): {table} is small, so that all of it is written anew in a moment."
            ));
        }
        let sqlite = match old.eq_ignore_ascii_case(&held) {
            true => None,
            false => Some(self.rebuilt(table, Edit::Retype(column, &held)).await?),
        };
        Ok(Step { slug: format!("{table}_{column}_wider"), pages: Both { sqlite, pg: Some(pg) } })
    }

    async fn drop_column(&mut self, table: &str, column: &str) -> Result<Step, Failure> {
        self.columns(table, &[column])?;
        let sql = format!("ALTER TABLE {} DROP COLUMN {}", spelled(table), spelled(column));
        let sqlite = match self.try_on_sqlite(&sql).await {
            Ok(()) => Page::of([sql.clone()]),
            // SQLite drops no column that something else names.
            Err(_) => self.rebuilt(table, Edit::Drop(column)).await?,
        };
        let pages = Both { sqlite: Some(sqlite), pg: Some(self.limited([sql])) };
        Ok(Step { slug: format!("{table}_without_{column}"), pages })
    }

    /// A table of SQLite that is built anew. Where others refer to it, foreign keys are off meanwhile, which nobody can do
    /// inside of a transaction.
    async fn rebuilt(&mut self, table: &str, edit: Edit<'_>) -> Result<Page, Failure> {
        let statements = rebuild::statements(self.connection, table, edit).await?;
        let refers = |other: &Table| other.foreign_keys.iter().any(|key| key.table == table);
        let is_on = self.inputs.config.migrations.as_ref().is_none_or(|settings| settings.foreign_keys);
        if !is_on || !self.schemas.sqlite.tables.values().any(refers) {
            return Ok(Page::of(statements));
        }
        let before = ["PRAGMA foreign_keys = OFF", "BEGIN"].map(str::to_owned);
        let behind = ["PRAGMA foreign_key_check", "COMMIT", "PRAGMA foreign_keys = ON"].map(str::to_owned);
        Ok(Page::alone(before.into_iter().chain(statements).chain(behind)))
    }

    /// Whether Postgres writes a table anew for a statement.
    fn is_rewritten(&self, sql: &str) -> bool {
        let mut sources = self.inputs.sources.clone();
        let mut files: Vec<_> = self.inputs.migrations(Dialect::Pg).into_iter().map(|(id, _)| id).collect();
        let drafted = sources.add(diglot::source::SourceFile::new("", sql));
        files.push(drafted);
        let effects = schema::read(&sources, &files, Dialect::Pg).0.effects;
        effects.iter().any(|effect| effect.span.file == drafted && effect.work == Some(schema::Work::Rewrite))
    }

    /// What a type of Postgres is, and what holds it on SQLite: as where the project has such a column.
    fn held(&self, ty: &str) -> Result<(Base, String), Failure> {
        let base = type_of(ty);
        let base = base.ok_or_else(|| Failure::Step { what: format!("no type of SQLite is known to hold `{ty}`") })?;
        let facing = |table: &Table| {
            let other = self.schemas.sqlite.tables.get(&table.name)?;
            let like =
                table.columns.iter().find(|column| column.ty.base == base && other.column(&column.name).is_some())?;
            other.column(&like.name).map(|column| column.declared.to_uppercase())
        };
        let own = self.schemas.pg.tables.values().filter(|table| !table.view).find_map(facing);
        let usual = match base {
            Base::Bool | Base::Int16 | Base::Int32 | Base::Int64 => "INTEGER",
            Base::Float64 => "REAL",
            Base::Bytes | Base::Uuid => "BLOB",
            _ => "TEXT",
        };
        Ok((base, own.unwrap_or_else(|| usual.to_owned())))
    }

    /// Whether SQLite takes a statement.
    async fn try_on_sqlite(&mut self, sql: &str) -> Result<(), Failure> {
        let last = sql.rsplit("; ").next().unwrap_or(sql);
        let failed = || Failure::engine(format!("run `{last}` on SQLite"));
        let tried = self.connection.execute("SAVEPOINT drafted").await.map(drop);
        tried.map_err(failed())?;
        let ran = self.connection.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.map(drop);
        let undone = self.connection.execute("ROLLBACK TO drafted").await.map(drop);
        ran.and(undone).map_err(failed())
    }
}

/// The type that a column of Postgres has which is declared so.
fn type_of(ty: &str) -> Option<Base> {
    let mut sources = diglot::source::Sources::default();
    let file = sources.add(diglot::source::SourceFile::new("", format!("CREATE TABLE drafted (held {ty});")));
    let (schema, found) = schema::read(&sources, &[file], Dialect::Pg);
    let table = schema.tables.get("drafted").filter(|_| found.is_empty())?;
    table.column("held").map(|column| column.ty.base.clone())
}
