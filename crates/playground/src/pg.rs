//! Postgres, as the page brings it: a server in the same thread, with which the page speaks Postgres's own protocol.

mod wire;

use std::collections::{BTreeMap, BTreeSet};

use diglot::dialect::Dialect;
use diglot::{EmittedText, Inputs};
use diglot_tools::prove::{
    Answer, Case, Fault, PgJob, PgSchema, PgTypes, Ran, Rows, Subject, Value, mentioned, pg_arguments, pg_types,
};

use wire::{Reply, Table};

/// Takes out what an earlier project made, and has texts be read as they are written here.
const FRESH: &str = "DEALLOCATE ALL; RESET ALL; SET TimeZone = 'UTC'; SET plan_cache_mode = force_generic_plan; SET jit = off; \
    DO $diglot$ DECLARE name text; BEGIN \
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname <> 'information_schema' AND NOT starts_with(nspname, 'pg_') \
    LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP; END $diglot$; CREATE SCHEMA public";

const BEGIN: [&str; 3] = ["BEGIN", "SET CONSTRAINTS ALL IMMEDIATE", "SAVEPOINT filling"];

/// What a statement of a message is for.
enum Part {
    /// Nobody looks at what it gives.
    Beside,
    /// It puts rows there.
    Rows,
    /// It is the case's own.
    Own,
    /// It reads a table that is compared.
    Table,
    /// It finds a row if the next number of a table is taken.
    Taken(String),
}

/// What is known of a case.
struct Known {
    result: Result<(Rows, u64), Fault>,
    tables: Vec<Rows>,
    taken: BTreeSet<String>,
}

impl Default for Known {
    fn default() -> Self {
        Self { result: Err(Fault::of("it was not run")), tables: Vec::new(), taken: BTreeSet::new() }
    }
}

/// A database with the project's schema.
pub(crate) struct Pg {
    schema: PgSchema,
    /// Texts with the types of their parameters: the name that each was prepared under, or why it was not.
    prepared: BTreeMap<String, Result<String, Fault>>,
}

impl Pg {
    pub(crate) fn open(inputs: &Inputs) -> Result<Self, String> {
        wire::run(FRESH)?;
        for (file, _) in inputs.migrations(Dialect::Pg) {
            wire::run(&inputs.sources.file(file).text)
                .map_err(|words| format!("Postgres refuses the schema: {words}"))?;
        }
        wire::run(PgSchema::LOOK_EVERYWHERE)?;
        let tables: Vec<String> = texts(PgSchema::TABLES)?.into_iter().flatten().collect();
        if let Some(emptying) = PgSchema::emptying(&tables) {
            wire::run(&emptying)?;
        }
        let triggered = texts(PgSchema::TRIGGERED)?.into_iter().flatten().collect();
        let types = PgTypes::new(triples(PgTypes::QUERY)?);
        let schema = PgSchema::new(types, triples(PgSchema::SEQUENCES)?, triggered);
        Ok(Self { schema, prepared: BTreeMap::new() })
    }

    /// Its name with its version.
    pub(crate) fn version() -> Result<String, String> {
        Ok(format!("Postgres {}", texts("SHOW server_version")?.concat().concat()))
    }

    /// What views read and triggers may write.
    pub(crate) fn relations() -> Result<BTreeMap<String, BTreeSet<String>>, String> {
        let tables: Vec<String> = texts(PgSchema::TABLES)?.into_iter().flatten().collect();
        let texts = texts(PgSchema::TEXTS)?.into_iter().filter_map(|row| <[String; 2]>::try_from(row).ok());
        Ok(mentioned(&tables, &texts.map(Into::into).collect::<Vec<(String, String)>>()))
    }

    /// The words of the enums that columns are made of.
    pub(crate) fn words() -> Result<BTreeMap<(String, String), Vec<String>>, String> {
        Ok(PgSchema::words(triples(PgSchema::LABELS)?))
    }

    /// Whether it takes a text for parameters of these types.
    pub(crate) fn takes(&mut self, subject: &Subject, text: &EmittedText) -> Result<(), Fault> {
        self.prepared(subject, text).map(drop)
    }

    /// The name under which a text is prepared.
    fn prepared(&mut self, subject: &Subject, text: &EmittedText) -> Result<String, Fault> {
        let types = pg_types(subject, text);
        let types = if types.is_empty() { String::new() } else { format!(" ({})", types.join(", ")) };
        let key = format!("{types} AS {}", text.sql);
        if let Some(known) = self.prepared.get(&key) {
            return known.clone();
        }
        let name = format!("diglot_{}", self.prepared.len());
        let taken = match wire::send(&format!("PREPARE {name}{key}")).refusal {
            None => Ok(name),
            Some(fault) => Err(fault),
        };
        self.prepared.insert(key, taken.clone());
        taken
    }

    /// Runs a case and takes it back: what it answers, and in another zone too where that may matter.
    pub(crate) fn run(&mut self, subject: &Subject, case: &Case) -> Result<Vec<Ran>, String> {
        let here = self.once(subject, case, false)?;
        if !subject.rests_on_zone {
            return Ok(vec![here]);
        }
        let elsewhere = match self.once(subject, case, true)? {
            Ran::Answered(answer) => Ran::Answered(Answer { manner: PgJob::IS_ELSEWHERE, ..answer }),
            refused @ Ran::Refused(_) => refused,
        };
        Ok(vec![here, elsewhere])
    }

    fn once(&mut self, subject: &Subject, case: &Case, is_elsewhere: bool) -> Result<Ran, String> {
        let own = self.own(subject, case);
        let (mut known, mut is_refused) = self.tried(subject, case, &own, is_elsewhere)?;
        let tables: BTreeSet<String> = case.rows.keys().cloned().collect();
        if is_refused {
            let rows = refused_rows(subject, case)?;
            if !rows.is_empty() || tables.is_subset(&self.schema.apart) {
                return Ok(Ran::Refused(rows));
            }
            // What each alone goes in and not together goes in one by one from now on.
            self.schema.apart.extend(tables);
            (known, is_refused) = self.tried(subject, case, &own, is_elsewhere)?;
        }
        if is_refused {
            return Ok(Ran::Refused(Vec::new()));
        }
        Ok(Ran::Answered(Answer { result: known.result, tables: known.tables, taken: known.taken, manner: "" }))
    }

    /// Runs a case and takes it back: what is known of it, and whether its rows do not go in.
    fn tried(
        &self,
        subject: &Subject,
        case: &Case,
        own: &Result<String, Fault>,
        is_elsewhere: bool,
    ) -> Result<(Known, bool), String> {
        let job = PgJob::new(subject, &self.schema);
        let mut message: Vec<(Part, String)> = BEGIN.map(|sql| (Part::Beside, sql.to_owned())).into();
        let fillings = subject.fillings(case, Dialect::Pg, |table| self.schema.apart.contains(table));
        message.extend(fillings.into_iter().map(|filling| (Part::Rows, filling.sql)));
        message.extend(job.clearings.iter().map(|sql| (Part::Beside, sql.clone())));
        message.push((Part::Beside, "SAVEPOINT statement".to_owned()));
        message.extend(job.numbers(&self.schema, case).into_iter().map(|sql| (Part::Beside, sql)));
        if is_elsewhere {
            message.push((Part::Beside, PgJob::ELSEWHERE.to_owned()));
        }
        let mut known = Known::default();
        match own {
            Ok(text) => message.push((Part::Own, text.clone())),
            Err(fault) => known.result = Err(fault.clone()),
        }
        message.extend(left(&job, own.is_ok()));
        let refused = self.take(&job, &message, &mut known)?;
        let is_refused = matches!(refused, Some((Part::Rows, _)));
        match refused {
            Some((Part::Own, fault)) => {
                known.result = Err(fault);
                let mut message = vec![(Part::Beside, "ROLLBACK TO statement".to_owned())];
                message.extend(left(&job, false));
                if let Some((_, fault)) = self.take(&job, &message, &mut known)? {
                    return Err(in_the_way(&fault));
                }
            }
            Some((Part::Rows, _)) | None => {}
            Some((_, fault)) => return Err(in_the_way(&fault)),
        }
        wire::run("ROLLBACK")?;
        Ok((known, is_refused))
    }

    /// The text that runs a case's statement.
    fn own(&mut self, subject: &Subject, case: &Case) -> Result<String, Fault> {
        let text = &subject.variant(case).ok_or_else(|| Fault::of("no such variant"))?.pg;
        let name = self.prepared(subject, text)?;
        let literals = pg_arguments(subject, text, case)?;
        let literals = if literals.is_empty() { String::new() } else { format!(" ({})", literals.join(", ")) };
        Ok(format!("EXECUTE {name}{literals}"))
    }

    /// Sends a message and takes in what it gives; what is refused of it, and why.
    fn take<'m>(
        &self,
        job: &PgJob<'_>,
        message: &'m [(Part, String)],
        known: &mut Known,
    ) -> Result<Option<(&'m Part, Fault)>, String> {
        let counts = job.subject.columns.is_empty() && !job.subject.is_partial;
        // A text may end in a hint.
        let text: String = message.iter().map(|(_, sql)| format!("{sql}\n;")).collect();
        let Reply { tables, refusal } = wire::send(&text);
        let refused = refusal.and_then(|fault| Some((&message.get(tables.len())?.0, fault)));
        for ((part, _), table) in message.iter().zip(&tables) {
            match part {
                Part::Beside | Part::Rows => {}
                Part::Own if counts => known.result = Ok((Rows::new(), table.count)),
                Part::Own => known.result = self.rows(table).map(|rows| (rows, 0)).map_err(Fault::of),
                Part::Table => known.tables.push(self.rows(table)?),
                Part::Taken(name) => known.taken.extend((!table.rows.is_empty()).then(|| name.clone())),
            }
        }
        Ok(refused)
    }

    fn rows(&self, table: &Table) -> Result<Rows, String> {
        let value = |(text, number): (&Option<String>, &u32)| match text {
            None => Ok(Value::Null),
            Some(text) => self.schema.types.value(*number, text),
        };
        table.rows.iter().map(|row| row.iter().zip(&table.types).map(value).collect()).collect()
    }
}

/// What reads what a statement left.
fn left(job: &PgJob<'_>, has_run: bool) -> Vec<(Part, String)> {
    let tables = job.tables.iter().filter(|_| job.subject.writes).map(|sql| (Part::Table, sql.clone()));
    let taken = job.taken.iter().filter(|_| has_run).map(|(table, sql)| (Part::Taken(table.clone()), sql.clone()));
    tables.chain(taken).collect()
}

fn in_the_way(fault: &Fault) -> String {
    format!("Postgres refuses what a case rests on: {}", fault.words)
}

/// Which of the rows do not go in, one after the other, by table and place.
fn refused_rows(subject: &Subject, case: &Case) -> Result<Vec<(String, usize)>, String> {
    let mut refused = Vec::new();
    wire::run(&BEGIN.join("; "))?;
    for filling in subject.fillings(case, Dialect::Pg, |_| true) {
        wire::run("SAVEPOINT row")?;
        if wire::run(&filling.sql).is_err() {
            wire::run("ROLLBACK TO row")?;
            refused.push((filling.table, filling.rows.start));
        }
    }
    wire::run("ROLLBACK")?;
    Ok(refused)
}

/// What a query gives, all of it as text.
fn texts(query: &str) -> Result<Vec<Vec<String>>, String> {
    let Reply { tables, refusal } = wire::send(query);
    match refusal {
        Some(fault) => Err(fault.words),
        None => {
            let text = |row: Vec<Option<String>>| row.into_iter().map(Option::unwrap_or_default).collect();
            Ok(tables.into_iter().flat_map(|table| table.rows).map(text).collect())
        }
    }
}

fn triples(query: &str) -> Result<Vec<(String, String, String)>, String> {
    let triple = |row: Vec<String>| <[String; 3]>::try_from(row).ok().map(Into::into);
    Ok(texts(query)?.into_iter().filter_map(triple).collect())
}
