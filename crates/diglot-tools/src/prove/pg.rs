//! What Postgres is asked beside the texts of a page, and what a case does there before and after its statement.

mod text;

use std::collections::{BTreeMap, BTreeSet};

use sea_query::{Expr, ExprTrait as _, Func, PostgresQueryBuilder, Query};

use super::{Case, NEW_IDS, Subject, Table};
use diglot::dialect::Dialect;

pub use text::Types as PgTypes;

/// What is known of a database with the project's schema.
#[derive(Debug)]
pub struct PgSchema {
    /// What fills columns with new numbers: the table, the column, the sequence.
    sequences: Vec<(String, String, String)>,
    /// Tables with triggers.
    triggered: BTreeSet<String>,
    /// Tables into which rows go one by one, because triggers look at them.
    pub apart: BTreeSet<String>,
    /// Its types.
    pub types: PgTypes,
}

impl PgSchema {
    /// Sequences that belong to a column, and others that its default asks.
    pub const SEQUENCES: &str = "SELECT lower(t.relname), lower(a.attname), s.oid::regclass::text FROM pg_class AS s \
        JOIN pg_depend AS d ON d.objid = s.oid AND d.deptype IN ('a', 'i') JOIN pg_class AS t ON t.oid = d.refobjid \
        JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid WHERE s.relkind = 'S' \
        UNION SELECT lower(t.relname), lower(a.attname), s.oid::regclass::text FROM pg_attrdef AS f \
        JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass \
        JOIN pg_class AS s ON s.oid = d.refobjid AND s.relkind = 'S' JOIN pg_class AS t ON t.oid = f.adrelid \
        JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = f.adnum ORDER BY 1, 2, 3";

    /// Has names looked for in the schemas that a project made, those first in which names without one are found.
    pub const LOOK_EVERYWHERE: &str = "SELECT set_config('search_path', \
        COALESCE(string_agg(quote_ident(nspname), ', ' ORDER BY nspname <> current_schema(), nspname), \
                 current_setting('search_path')), false) \
        FROM pg_namespace WHERE nspname <> 'information_schema' AND NOT starts_with(nspname, 'pg_')";

    /// Base tables that are no partitions of others.
    pub const TABLES: &str = "SELECT lower(c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE n.nspname = ANY (current_schemas(false)) AND c.relkind IN ('r', 'p') AND NOT c.relispartition";

    /// Tables with triggers.
    pub const TRIGGERED: &str = "SELECT DISTINCT lower(t.relname) FROM pg_trigger AS g JOIN pg_class AS t ON t.oid = g.tgrelid \
        WHERE NOT g.tgisinternal";

    /// The names of views and of tables with triggers, with the texts of those.
    pub const TEXTS: &str = "SELECT lower(t.relname), lower(pg_get_functiondef(g.tgfoid)) FROM pg_trigger AS g \
        JOIN pg_class AS t ON t.oid = g.tgrelid WHERE NOT g.tgisinternal AND NOT t.relispartition \
        UNION ALL SELECT lower(viewname), lower(definition) FROM pg_views WHERE schemaname = ANY (current_schemas(false))";

    /// Tables, columns and words of enums.
    pub const LABELS: &str = "SELECT lower(c.relname), lower(a.attname), e.enumlabel::text FROM pg_enum AS e \
        JOIN pg_attribute AS a ON a.atttypid = e.enumtypid AND NOT a.attisdropped \
        JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p') AND NOT c.relispartition \
        ORDER BY e.enumsortorder";

    /// What the database answered to [`PgTypes::QUERY`], [`Self::SEQUENCES`] and [`Self::TRIGGERED`].
    pub fn new(types: PgTypes, sequences: Vec<(String, String, String)>, triggered: Vec<String>) -> Self {
        let triggered: BTreeSet<String> = triggered.into_iter().collect();
        Self { sequences, apart: triggered.clone(), triggered, types }
    }

    /// What empties tables.
    pub fn emptying(tables: &[String]) -> Option<String> {
        let list: Vec<String> = tables.iter().map(|table| format!("\"{table}\"")).collect();
        // The builder's TRUNCATE has no CASCADE.
        (!tables.is_empty()).then(|| format!("TRUNCATE {} CASCADE", list.join(", ")))
    }

    /// The words of each column, of the answer to [`Self::LABELS`].
    pub fn words(labels: Vec<(String, String, String)>) -> BTreeMap<(String, String), Vec<String>> {
        let mut words: BTreeMap<_, Vec<String>> = BTreeMap::new();
        for (table, column, label) in labels {
            words.entry((table, column)).or_default().push(label);
        }
        words
    }

    /// What finds the next number of a table taken.
    fn taken(&self, table: &Table) -> Option<(String, String)> {
        let number = table.numbered()?;
        let (_, _, sequence) = self.sequences.iter().find(|(of, name, _)| *of == table.name && name == number)?;
        let next = Query::select().expr(Func::cust("nextval").arg(sequence.as_str())).take();
        let mut numbered = Query::select();
        numbered.expr(Expr::cust("1")).from(table.name.clone()).and_where(Expr::col(number.to_owned()).eq(next));
        Some((table.name.clone(), numbered.to_string(PostgresQueryBuilder)))
    }
}

/// What the cases of a pair have in common on Postgres.
pub struct PgJob<'s> {
    /// The pair.
    pub subject: &'s Subject,
    /// The statements that take out what no program would have written.
    pub clearings: Vec<String>,
    /// The queries for the tables that are compared.
    pub tables: Vec<String>,
    /// For tables to whose rows the statement gives their numbers itself, what finds the next number taken.
    pub taken: Vec<(String, String)>,
    /// Whether it may ask a sequence.
    draws: bool,
}

impl<'s> PgJob<'s> {
    /// Brings the session into another zone until it is taken back.
    pub const ELSEWHERE: &'static str = "SET LOCAL TimeZone = 'Pacific/Auckland'";
    /// How that is told.
    pub const IS_ELSEWHERE: &'static str =
        "where the session of Postgres is in another zone (`pg_timezone` says which one it is)";

    /// How it is told that a statement took steps.
    pub const IS_IN_STEPS: &'static str = "where Postgres takes steps";

    /// Of a pair in a database.
    pub fn new(subject: &'s Subject, schema: &PgSchema) -> Self {
        let numbers = subject.compared.iter().filter(|table| subject.numbers.contains(&table.name));
        let texts = subject.variants.iter().map(|texts| texts.pg.sql.to_lowercase()).collect::<String>();
        let has_triggers = subject.compared.iter().any(|table| schema.triggered.contains(&table.name));
        let asks = |word: &&str| texts.contains(word);
        Self {
            subject,
            clearings: subject.clearings().iter().map(|sql| repeated(sql)).collect(),
            tables: subject.compared.iter().map(|table| table.select(Dialect::Pg)).collect(),
            taken: numbers.filter_map(|table| schema.taken(table)).collect(),
            draws: has_triggers || ["insert", "merge", "default", "nextval", "currval", "lastval"].iter().any(asks),
        }
    }

    /// What has the sequences begin where new numbers do. What an earlier case drew is no business of this one.
    pub fn numbers(&self, schema: &PgSchema, case: &Case) -> Vec<String> {
        if !self.draws {
            return Vec::new();
        }
        let mut set = Query::select();
        let mut any = false;
        for table in self.subject.tables.iter().chain(&self.subject.compared) {
            // Where a statement gives the numbers itself, the sequence goes on behind the rows that are there.
            let own = self.subject.numbers.contains(&table.name);
            let behind = case.rows.get(&table.name).map_or(0, Vec::len) as i64 + 1;
            for (_, column, sequence) in schema.sequences.iter().filter(|(of, ..)| *of == table.name) {
                let next = if own && table.numbered() == Some(column.as_str()) { behind } else { NEW_IDS };
                set.expr(Func::cust("setval").arg(sequence.as_str()).arg(next).arg(false));
                any = true;
            }
        }
        let set = any.then(|| set.to_string(PostgresQueryBuilder));
        std::iter::once("DISCARD SEQUENCES".to_owned()).chain(set).collect()
    }
}

/// A row that goes may make another one impossible, and each engine looks at them in its own order.
fn repeated(clearing: &str) -> String {
    if !clearing.to_lowercase().contains("select") {
        return clearing.to_owned();
    }
    format!(
        "DO $diglot$ #variable_conflict use_column\nBEGIN LOOP {clearing}; EXIT WHEN NOT FOUND; END LOOP; END $diglot$"
    )
}
