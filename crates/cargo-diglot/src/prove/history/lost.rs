//! What both databases had beside their rows and one of them lost with a stretch: triggers of tables that SQLite built anew,
//! references, views that cannot be read.
//!
//! That shows on the rows of a later program, so some are put there and changed.

use std::collections::BTreeSet;

use diglot::dialect::{Both, Dialect};
use diglot::evidence::{Verdict, Witness};
use diglot::history::Stretch;
use diglot::{Inputs, compile};
use diglot_tools::prove::Prover;
use diglot_tools::verdict::witness;
use sea_query::{DeleteStatement, Expr, PostgresQueryBuilder, UpdateStatement};

use super::{Trial, Way};
use crate::failure::Failure;
use crate::prove::engines::Reference;
use crate::prove::sqlite::Beside;

/// What stood beside the rows before a stretch.
pub(super) struct Stood {
    sqlite: Beside,
    pg: BTreeSet<Reference>,
}

/// Something that is gone.
struct Lost {
    /// In one sentence.
    words: String,
    /// The table whose rows may show it.
    table: Option<String>,
}

impl Way<'_> {
    /// What stands beside the rows.
    pub(super) async fn stood(&mut self) -> Result<Stood, Failure> {
        Ok(Stood { sqlite: self.sqlite.beside()?, pg: self.pg().await?.references().await? })
    }

    /// What a stretch that both databases have taken left behind of what stood there; with rows that show it, if there are
    /// some.
    pub(super) async fn lost(&mut self, before: &Stood, stretch: &Stretch) -> Result<Option<Verdict>, Failure> {
        let said = stretch.texts(self.inputs, Dialect::Sqlite).concat().to_lowercase();
        let after = self.stood().await?;
        let Some(lost) = first_lost(before, &after, &said) else { return Ok(None) };
        if let Some(table) = &lost.table
            && let Some(verdict) =
                self.shown(&lost.words, table, &after.sqlite.tables, &stretch.after(self.inputs)).await?
        {
            return Ok(Some(verdict));
        }
        Ok(Some(Verdict::Differs(Box::new(Witness { what: lost.words, ..Witness::default() }))))
    }

    /// What deleting and writing the rows of a table shows.
    async fn shown(
        &mut self,
        words: &str,
        table: &str,
        tables: &BTreeSet<String>,
        inputs: &Inputs,
    ) -> Result<Option<Verdict>, Failure> {
        let relations = self.relations().await?;
        let compiled = compile(inputs);
        let said = tables.iter().map(String::as_str).collect::<Vec<&str>>().join(" ");
        let subject = Prover::new(inputs, &compiled, &relations).of_migrations(&said);
        let Some(known) = subject.compared.iter().find(|known| known.name == table) else { return Ok(None) };
        let mut update = UpdateStatement::new().table(table.to_owned()).take();
        for column in known.shown().filter(|column| known.numbered() != Some(column.name.as_str())) {
            update.value(column.name.clone(), Expr::col(column.name.clone()));
        }
        let delete = DeleteStatement::new().from_table(table.to_owned()).to_string(PostgresQueryBuilder);
        for text in [delete, update.to_string(PostgresQueryBuilder)] {
            let texts = Both::of(|_| vec![text.as_str()]);
            let trial = Trial { before: &subject, after: &subject, texts, apart: None };
            if let (_, Some((case, mut difference))) = self.first(&trial).await? {
                difference.what = format!("{} behind {}: {words}", difference.what, text.replace('"', ""));
                return Ok(Some(Verdict::Differs(Box::new(witness(&subject, &case, difference, true)))));
            }
        }
        Ok(None)
    }
}

/// What is gone first of all; `said` are the migrations of SQLite.
fn first_lost(before: &Stood, after: &Stood, said: &str) -> Option<Lost> {
    let (was, is) = (&before.sqlite, &after.sqlite);
    let drops = |name: &str| said.contains(&format!("drop trigger {name}")) || said.contains(&format!("exists {name}"));
    let is_gone = |(name, table): &&(String, String)| is.tables.contains(table) && !drops(name);
    let trigger = was.triggers.difference(&is.triggers).find(is_gone).map(|(name, table)| Lost {
        words: format!("the trigger {name} is gone, with the table {table} that was built anew"),
        table: Some(table.clone()),
    });
    let of_both = was.references.intersection(&before.pg);
    let is_of_one = |reference: &&Reference| {
        let (table, _, parent, _) = reference;
        is.references.contains(*reference) != after.pg.contains(*reference)
            && [table, parent].iter().all(|name| is.tables.contains(*name))
    };
    let reference = of_both.into_iter().find(is_of_one).map(|reference| {
        let (table, columns, parent, _) = reference;
        let engine = if is.references.contains(reference) { Dialect::Pg } else { Dialect::Sqlite };
        let words = format!("{table} ({columns}) does not refer to {parent} on {} as before", engine.title());
        Lost { words, table: Some(parent.clone()) }
    });
    let broken = is.broken.difference(&was.broken).next();
    let broken = broken.map(|words| Lost { words: words.clone(), table: None });
    trigger.or(broken).or(reference)
}
