//! Drafts of statements that are not there yet.

use sea_query::{
    Asterisk, ConditionalStatement, DeleteStatement, Expr, ExprTrait as _, Func, InsertStatement, Order,
    QueryStatementWriter, SelectStatement, SqliteQueryBuilder, UpdateStatement,
};

use diglot::dialect::{Both, Dialect};
use diglot::names::{is_module_name, is_plain};
use diglot::page::RawStatement;
use diglot::pipeline::{self, ReadProject};
use diglot::project::Inputs;
use diglot::schema::{Column, Fill, Table};
use diglot::types::Base;

/// A statement to add to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// `noun_verb`.
    pub name: String,
    /// The page.
    pub dialect: Dialect,
    /// The file, from the project's root; it may not be there yet.
    pub path: String,
    /// The statement with its header and a line break at its end.
    pub text: String,
}

/// Why there is no draft.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// The words do not make a name.
    #[error("`{noun}` and `{verb}` do not make a name: both are words in snake case, as `lease` and `renew`")]
    Name {
        /// The noun.
        noun: String,
        /// The verb.
        verb: String,
    },
    /// The statement is there.
    #[error("{path}: `{name}` is there already")]
    Exists {
        /// The statement.
        name: String,
        /// The file.
        path: String,
    },
    /// The one page is the other dialect's as well.
    #[error(
        "both dialects read {path}: write `{name}` there in words that both know, or below it once more with `-- only: {dialect}`"
    )]
    Common {
        /// The statement.
        name: String,
        /// The file.
        path: String,
        /// The dialect that lacks it.
        dialect: Dialect,
    },
    /// There is no such statement.
    #[error("there is no statement `{name}`{}", meant(.similar))]
    Missing {
        /// What was asked for.
        name: String,
        /// The name that looks most like it.
        similar: Option<String>,
    },
    /// The statement is not understood, so that nothing can be made of it.
    #[error("`{name}` is not understood: `cargo diglot check` says why")]
    Unread {
        /// The statement.
        name: String,
    },
    /// No table could be meant.
    #[error("which table is `{noun}` about? name it with --table; both schemas have: {}", tables.join(", "))]
    Table {
        /// The noun.
        noun: String,
        /// The tables that both schemas have.
        tables: Vec<String>,
    },
}

fn meant(similar: &Option<String>) -> String {
    similar.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Both pages of a statement about a table; they are one where a place is for both dialects. The verb says what it does: `add`, `get`, `list`, `count`, `update`,
/// `delete` and words like them; any other reads a row by its key.
///
/// # Errors
/// When the name cannot be, is taken, or no table of both schemas is meant by it.
pub fn pair(inputs: &Inputs, noun: &str, verb: &str, table: Option<&str>) -> Result<Both<Draft>, DraftError> {
    let word = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_module_name(noun) || !word(noun) || !word(verb) || verb.is_empty() {
        return Err(DraftError::Name { noun: noun.to_owned(), verb: verb.to_owned() });
    }
    let name = format!("{noun}_{verb}");
    let statements = pipeline::facing(inputs);
    if let Some(taken) = statements.iter().find(|statement| statement.name == name) {
        let raw = taken.pages.iter().flatten().next();
        return Err(DraftError::Exists { name, path: raw.map_or_else(String::new, |raw| path_of(inputs, raw)) });
    }
    let project = ReadProject::read(inputs);
    let about = subject(&project, noun, table)?;
    let text = statement(&about, &name, verb);
    Ok(Both::of(|dialect| Draft {
        name: name.clone(),
        dialect,
        path: inputs.config.sql.common_page(noun).unwrap_or_else(|| inputs.config.sql.page(dialect, noun)),
        text: text.clone(),
    }))
}

pub(crate) fn path_of(inputs: &Inputs, raw: &RawStatement) -> String {
    inputs.sources.get(raw.header_span.file).map_or_else(String::new, |file| file.path.clone())
}

/// What a statement is about: a table with the columns that both schemas have.
struct Subject {
    table: String,
    columns: Vec<Column>,
    key: Vec<String>,
    /// The columns by which the Postgres table is partitioned.
    partitioned_by: Vec<String>,
}

fn subject(project: &ReadProject<'_>, noun: &str, table: Option<&str>) -> Result<Subject, DraftError> {
    let Both { sqlite, pg } = project.schemas();
    let shared: Vec<(&Table, &Table)> = pg
        .tables
        .values()
        .filter(|table| !table.partition)
        .filter_map(|table| Some((sqlite.tables.get(&table.name)?, table)))
        .collect();
    let wanted = table.unwrap_or(noun).to_lowercase();
    let exactly = |name: &str| name == wanted || table.is_none() && name == format!("{wanted}s");
    let ends = |name: &str| name.ends_with(&format!("_{wanted}")) || name.ends_with(&format!("_{wanted}s"));
    let mut fitting: Vec<&(&Table, &Table)> = shared.iter().filter(|(_, pg)| exactly(&pg.name)).collect();
    if fitting.is_empty() && table.is_none() {
        fitting = shared.iter().filter(|(_, pg)| ends(&pg.name)).collect();
    }
    let [(sqlite, pg)] = fitting.as_slice() else {
        let tables = shared.iter().map(|(_, pg)| pg.name.clone()).collect();
        return Err(DraftError::Table { noun: noun.to_owned(), tables });
    };
    let columns: Vec<Column> =
        pg.columns.iter().filter(|column| sqlite.column(&column.name).is_some()).cloned().collect();
    let has_all =
        |key: &&Vec<String>| !key.is_empty() && key.iter().all(|name| columns.iter().any(|c| c.name == *name));
    // A statement about a row names one, also where nothing says which columns do.
    let key = std::iter::once(&pg.primary_key)
        .chain(&pg.unique)
        .find(has_all)
        .cloned()
        .unwrap_or_else(|| columns.iter().take(1).map(|column| column.name.clone()).collect());
    Ok(Subject { table: pg.name.clone(), columns, key, partitioned_by: pg.partitioned_by.clone() })
}

/// The text, the same on both pages.
fn statement(about: &Subject, name: &str, verb: &str) -> String {
    let Subject { table, columns, key, partitioned_by } = about;
    let names = || columns.iter().map(|column| column.name.clone());
    let given = || columns.iter().filter(|column| !column.has_default && column.fill == Fill::Nothing);
    let mut others = names().filter(|name| !key.contains(name)).peekable();
    let mut written: Vec<&Column> = Vec::new();
    let (doc, cardinality, sql) = match verb {
        "add" | "insert" | "put" | "create" | "write" => {
            let mut insert = InsertStatement::new();
            insert.into_table(table.clone());
            insert.columns(given().map(|column| column.name.clone()));
            insert.values_panic(given().map(|column| argument(&column.name)));
            written.extend(given());
            (format!("Adds a row to {table}."), "exec", laid_out(&insert))
        }
        "list" | "all" => {
            let mut select = SelectStatement::new();
            select.columns(names()).from(table.clone());
            given_rows(&mut select, partitioned_by);
            select.order_by_columns(key.iter().map(|name| (name.clone(), Order::Asc)));
            (format!("All rows of {table}."), "many", laid_out(&select))
        }
        "count" => {
            let mut select = SelectStatement::new();
            select.expr_as(Func::count(Expr::col(Asterisk)), "count").from(table.clone());
            given_rows(&mut select, partitioned_by);
            (format!("How many rows {table} has."), "one", laid_out(&select))
        }
        "update" | "set" | "change" | "edit" if others.peek().is_some() => {
            let mut update = UpdateStatement::new();
            update.table(table.clone()).values(others.map(|name| (name.clone(), argument(&name))));
            given_rows(&mut update, key);
            written.extend(columns.iter().filter(|column| !key.contains(&column.name)));
            (format!("Changes a row of {table}; says whether it was there."), "rows", laid_out(&update))
        }
        "delete" | "remove" | "drop" | "forget" => {
            let mut delete = DeleteStatement::new();
            delete.from_table(table.clone());
            given_rows(&mut delete, key);
            (format!("Deletes a row of {table}; says whether it was there."), "rows", laid_out(&delete))
        }
        _ => {
            let mut select = SelectStatement::new();
            select.columns(names()).from(table.clone());
            given_rows(&mut select, key);
            (format!("A row of {table} by its key."), "opt", laid_out(&select))
        }
    };
    let nullable: String = written.into_iter().filter_map(nullable).collect();
    format!("-- {doc}\n-- name: {name} :{cardinality}\n{nullable}{sql};\n")
}

/// The line by which a parameter that is written to a column takes NULL, as the column does.
fn nullable(column: &Column) -> Option<String> {
    let word = column.ty.base.word();
    let is_known = column.ty.nullable && Base::from_word(word).is_some();
    is_known.then(|| format!("-- param: {} {word} null\n", column.name))
}

/// The parameter that is named after a column.
fn argument(column: &str) -> Expr {
    Expr::cust(format!(":{column}"))
}

/// The rows that have given values in these columns.
fn given_rows(statement: &mut impl ConditionalStatement, columns: &[String]) {
    for name in columns {
        statement.and_where(Expr::col(name.clone()).eq(argument(name)));
    }
}

/// The builder's text as people write it: a clause and an assignment to a line, and names without quotes where they need
/// none.
fn laid_out(statement: &impl QueryStatementWriter) -> String {
    const LINES: [(&str, &str); 6] = [
        (" FROM ", "\n  FROM "),
        (" WHERE ", "\n WHERE "),
        (" AND ", "\n   AND "),
        (" ORDER BY ", "\n ORDER BY "),
        (" VALUES ", "\nVALUES "),
        (" SET ", "\n   SET "),
    ];
    let text = statement.to_string(SqliteQueryBuilder);
    let mut page = String::new();
    let mut assigns = false;
    // Between two quotes stands a name, everywhere else words of the language and parameters.
    for (at, piece) in text.split('"').enumerate() {
        if at % 2 == 1 {
            page += &spelled(piece);
            continue;
        }
        assigns = (assigns || piece.contains(" SET ")) && !piece.contains(" WHERE ");
        let piece = if assigns { piece.replace(", ", ",\n       ") } else { piece.to_owned() };
        page += &LINES.iter().fold(piece, |piece, (word, line)| piece.replace(word, line)).replace(" ASC", "");
    }
    page
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A name of a table or a column as both dialects read it: in quotes where it has to be.
pub fn spelled(name: &str) -> String {
    let is_plain = is_plain(name) && !name.contains(char::is_uppercase) && !is_reserved(name);
    if is_plain { name.to_owned() } else { quoted(name) }
}

/// Whether a name is a word that SQL keeps for itself.
fn is_reserved(name: &str) -> bool {
    use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX, RESERVED_FOR_COLUMN_ALIAS, RESERVED_FOR_TABLE_ALIAS};
    let found = ALL_KEYWORDS.binary_search(&name.to_ascii_uppercase().as_str()).ok();
    found.is_some_and(|at| {
        let word = &ALL_KEYWORDS_INDEX[at];
        RESERVED_FOR_COLUMN_ALIAS.contains(word) || RESERVED_FOR_TABLE_ALIAS.contains(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use diglot::compile;
    use diglot::source::{SourceFile, Sources};

    const SQLITE: &str = "CREATE TABLE app_lease (part INTEGER NOT NULL, id BLOB NOT NULL, owner TEXT, doc TEXT NOT NULL, \
                          seen INTEGER NOT NULL DEFAULT 0, extra TEXT, PRIMARY KEY (part, id));\n\
                          CREATE TABLE event (event_id INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL);";
    const PG: &str = "CREATE TABLE app_lease (part smallint NOT NULL, id uuid NOT NULL, owner text, doc jsonb NOT NULL, \
                      seen bigint NOT NULL DEFAULT 0, PRIMARY KEY (part, id)) PARTITION BY HASH (part);\n\
                      CREATE TABLE event (event_id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, at_ms bigint NOT NULL);";

    fn inputs<'d>(pages: impl IntoIterator<Item = &'d Draft>) -> Inputs {
        let mut sources = Sources::default();
        sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE));
        sources.add(SourceFile::new("schema/pg/0001_all.sql", PG));
        for draft in pages {
            sources.add(SourceFile::new(draft.path.as_str(), draft.text.as_str()));
        }
        Inputs { sources, ..Inputs::default() }
    }

    #[test]
    fn every_draft_is_a_statement_that_both_pages_can_have() {
        for noun in ["lease", "event"] {
            for verb in ["add", "list", "count", "update", "delete", "get", "renew"] {
                let drafts = pair(&inputs(&[]), noun, verb, None).unwrap();
                let inputs = inputs(&drafts);
                let compiled = compile(&inputs);
                let found: Vec<&str> = compiled
                    .diagnostics
                    .iter()
                    .filter(|finding| !finding.message.starts_with("schema:"))
                    .map(|finding| finding.message.as_str())
                    .collect();
                assert_eq!(found, [""; 0], "{noun} {verb}: {}", drafts.sqlite.text);
                assert_eq!(compiled.signatures.len(), 1, "{}", drafts.sqlite.text);
            }
        }
    }

    #[test]
    fn a_draft_names_what_both_schemas_have_and_what_nobody_else_fills() {
        let Both { sqlite, pg } = pair(&inputs(&[]), "lease", "add", None).unwrap();
        assert_eq!(sqlite.text, pg.text);
        assert_eq!((sqlite.path.as_str(), pg.path.as_str()), ("sql/sqlite/lease.sql", "sql/pg/lease.sql"));
        let expected = "-- Adds a row to app_lease.\n-- name: lease_add :exec\n-- param: owner text null\n\
                        INSERT INTO app_lease (part, id, owner, doc)\nVALUES (:part, :id, :owner, :doc);\n";
        assert_eq!(sqlite.text, expected);
    }

    #[test]
    fn what_cannot_be_drafted_says_why() {
        let drafts = pair(&inputs(&[]), "lease", "add", None).unwrap();
        let error = |noun: &str, verb: &str, table| pair(&inputs(&drafts), noun, verb, table).unwrap_err().to_string();
        assert_eq!(error("lease", "add", None), "sql/sqlite/lease.sql: `lease_add` is there already");
        assert!(error("Lease", "x y", None).contains("do not make a name"));
        assert!(error("../lease", "add", None).contains("do not make a name"));
        assert!(error("job", "add", None).ends_with("both schemas have: app_lease, event"));
        assert!(error("job", "add", Some("lease")).ends_with("both schemas have: app_lease, event"));
        assert!(pair(&inputs(&[]), "job", "add", Some("event")).is_ok());
    }
}
