//! Both engines, as the page brings them.

use diglot::dialect::Both as OfBoth;
use diglot::{EmittedText, Inputs};
use diglot_tools::prove::{
    Answer, Case, Difference, Engines, Judge, Ran, RanBoth, Relations, SqliteJob, SqliteSchema, Subject, Trouble,
};

use crate::pg::Pg;
use crate::sqlite::Connection;

/// Both with the project's schema.
pub(crate) struct Both {
    sqlite: Connection,
    schema: SqliteSchema,
    pg: Pg,
}

impl Both {
    pub(crate) fn open(inputs: &Inputs) -> Result<Self, String> {
        let (sqlite, schema) = Connection::open(inputs)?;
        Ok(Self { sqlite, schema, pg: Pg::open(inputs)? })
    }

    /// Both names with their versions.
    pub(crate) fn versions(&self) -> Result<String, String> {
        Ok(format!("{}, {}", self.sqlite.version()?, Pg::version()?))
    }

    /// What both know and no schema does.
    pub(crate) fn relations(&self) -> Result<Relations, String> {
        let judge = Judge::new(|query| Connection.single(query));
        Ok(Relations { sqlite: self.sqlite.relations()?, pg: Pg::relations()?, words: Pg::words()?, judge })
    }

    fn job<'s>(&'s self, subject: &'s Subject) -> SqliteJob<'s> {
        SqliteJob::new(subject, &self.schema, false)
    }
}

impl Engines for Both {
    type Error = String;

    fn once(&mut self, subject: &Subject, cases: &[Case], open: Vec<usize>) -> Result<Vec<RanBoth>, String> {
        let ours = self.on_sqlite(subject, &open.iter().map(|at| &cases[*at]).collect::<Vec<_>>())?;
        let mut both = Vec::with_capacity(open.len());
        for (at, ours) in open.into_iter().zip(ours).filter(|(_, ran)| !ran.is_endless()) {
            both.push((at, ours, self.pg.run(subject, &cases[at])?));
        }
        Ok(both)
    }

    fn takes(&mut self, subject: &Subject, texts: &OfBoth<EmittedText>) -> Result<(Option<Difference>, bool), String> {
        let (ours, theirs) = (self.sqlite.takes(&texts.sqlite), self.pg.takes(subject, &texts.pg));
        let is_refused = ours.is_err() && theirs.is_err();
        Ok((Difference::taken(ours, theirs), is_refused))
    }

    fn sqlite_takes(&self, text: &EmittedText) -> bool {
        self.sqlite.takes(text).is_ok()
    }

    fn on_sqlite(&mut self, subject: &Subject, cases: &[&Case]) -> Result<Vec<Ran>, String> {
        self.job(subject).run(&self.sqlite, cases).map_err(told)
    }

    fn tell(
        &mut self,
        subject: &Subject,
        texts: &[EmittedText],
        open: &mut Vec<usize>,
        answered: &[(Case, Answer)],
    ) -> Result<(), String> {
        self.job(subject).tell(&self.sqlite, texts, open, answered).map_err(told)
    }
}

fn told(trouble: Trouble) -> String {
    trouble.to_string()
}
