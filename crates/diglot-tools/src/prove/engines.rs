//! Both engines, as far as it does not matter how they are reached.

use super::{Answer, Case, Difference, Subject};
use diglot::dialect::Both;
use diglot::emitted::EmittedText;

/// How often a case is tried again without the rows that an engine refuses.
pub const ATTEMPTS: usize = 4;
/// How many smaller cases are tried together, of which the first that differs counts.
const SMALLER: usize = 12;
/// How many steps are tried to make a difference smaller.
const SHRINK_STEPS: usize = 400;

/// The kind of a fault of a row whose key another one has.
pub const UNIQUE: &str = "a unique key";
/// The kind of a fault of a row that refers to none.
pub const REFERENCE: &str = "a reference";
/// The kind of a fault of a row that lacks a value.
pub const NOT_NULL: &str = "NOT NULL";
/// The kind of a fault of a value that a CHECK refuses.
pub const CHECK: &str = "a check";
/// The kind of a fault of a statement that was stopped.
pub const ENDLESS: &str = "too many rows or steps";
/// The most rows that an answer has.
pub const MOST_ROWS: usize = 10_000;

/// What an engine did with a case.
#[derive(Debug, Clone)]
pub enum Ran {
    /// It ran.
    Answered(Answer),
    /// It refused these rows, by table and place.
    Refused(Vec<(String, usize)>),
}

/// The place of a case, what SQLite did with it, and Postgres for every way to sort.
pub type RanBoth = (usize, Ran, Vec<Ran>);

impl Ran {
    /// Whether the engine was stopped because it took too long.
    pub fn is_endless(&self) -> bool {
        matches!(self, Self::Answered(Answer { result: Err(fault), .. }) if fault.kind == ENDLESS)
    }
}

/// Both engines with a project's schema and no rows.
pub trait Engines {
    /// Why an engine cannot be asked.
    type Error;

    /// Runs those of the cases that stand at these places, as they are. Those that take SQLite too long are left out.
    ///
    /// # Errors
    /// When an engine cannot be asked.
    fn once(&mut self, subject: &Subject, cases: &[Case], open: Vec<usize>) -> Result<Vec<RanBoth>, Self::Error>;

    /// Whether each takes the texts: what differs if one does, and whether neither does.
    ///
    /// # Errors
    /// When an engine cannot be asked.
    fn takes(
        &mut self,
        subject: &Subject,
        texts: &Both<EmittedText>,
    ) -> Result<(Option<Difference>, bool), Self::Error>;

    /// Whether SQLite takes a text.
    fn sqlite_takes(&self, text: &EmittedText) -> bool;

    /// Runs cases on SQLite alone.
    ///
    /// # Errors
    /// When SQLite cannot be asked.
    fn on_sqlite(&mut self, subject: &Subject, cases: &[&Case]) -> Result<Vec<Ran>, Self::Error>;

    /// Runs texts in the place of the page of SQLite on cases that the page has answered, until each of them gave something
    /// else: takes those out of the open ones, which are named by their places.
    ///
    /// # Errors
    /// When SQLite cannot be asked.
    fn tell(
        &mut self,
        subject: &Subject,
        texts: &[EmittedText],
        open: &mut Vec<usize>,
        answered: &[(Case, Answer)],
    ) -> Result<(), Self::Error>;

    /// Runs cases on both engines. Rows that one of them refuses are taken out of the case, which is then as it was run;
    /// nothing where no attempt was taken by both. Where text sorts in more than one way, Postgres's answer is the one
    /// that differs.
    ///
    /// # Errors
    /// When an engine cannot be asked.
    fn run_many(
        &mut self,
        subject: &Subject,
        cases: &mut [Case],
    ) -> Result<Vec<Option<(Answer, Answer)>>, Self::Error> {
        let mut answers = vec![None; cases.len()];
        let mut open: Vec<usize> = (0..cases.len()).collect();
        for _ in 0..ATTEMPTS {
            if open.is_empty() {
                break;
            }
            let mut again = Vec::new();
            for (at, sqlite, pg) in self.once(subject, cases, open)? {
                match answered(subject, &cases[at], sqlite, pg) {
                    Ok(both) => answers[at] = Some(both),
                    // What takes an engine too long says nothing of the pages.
                    Err(refused) if refused.is_empty() => {}
                    Err(refused) => {
                        leave_out(&mut cases[at], &refused);
                        again.push(at);
                    }
                }
            }
            open = again;
        }
        Ok(answers)
    }

    /// Makes a difference smaller while it stays one.
    ///
    /// # Errors
    /// When an engine cannot be asked.
    fn smaller(
        &mut self,
        subject: &Subject,
        case: Case,
        difference: Difference,
    ) -> Result<(Case, Difference), Self::Error> {
        let (mut best, mut shown) = (case, difference);
        let mut steps = 0;
        'smaller: loop {
            for some in subject.simpler(&best).chunks(SMALLER) {
                let mut next: Vec<Case> = some.iter().take(SHRINK_STEPS - steps).cloned().collect();
                let answers = self.run_many(subject, &mut next)?;
                for (next, answers) in next.into_iter().zip(answers) {
                    steps += 1;
                    let Some((sqlite, pg)) = answers else { continue };
                    if let Some(difference) = subject.compare(&next, &sqlite, &pg)
                        && difference.what == shown.what
                    {
                        (best, shown) = (next, difference);
                        continue 'smaller;
                    }
                }
                if steps == SHRINK_STEPS {
                    return Ok((best, shown));
                }
            }
            return Ok((best, shown));
        }
    }
}

/// Both answers, or the rows that were refused.
fn answered(
    subject: &Subject,
    case: &Case,
    sqlite: Ran,
    pg: Vec<Ran>,
) -> Result<(Answer, Answer), Vec<(String, usize)>> {
    let mut refused = Vec::new();
    let mut answer = |ran: Ran| match ran {
        ran if ran.is_endless() => None,
        Ran::Answered(answer) => Some(answer),
        Ran::Refused(rows) => {
            refused.extend(rows);
            None
        }
    };
    let (ours, mut theirs): (_, Vec<Answer>) = (answer(sqlite), pg.into_iter().filter_map(answer).collect());
    let (Some(ours), true) = (ours, refused.is_empty()) else { return Err(refused) };
    if theirs.is_empty() {
        return Err(refused);
    }
    let differs = |answer: &Answer| subject.compare(case, &ours, answer).is_some();
    let may_differ = |answer: &Answer| subject.compare_all(case, &ours, answer).is_some();
    let is_one = theirs.len() == 1;
    let at = if is_one { None } else { theirs.iter().position(differs).or_else(|| theirs.iter().position(may_differ)) };
    let theirs = theirs.swap_remove(at.unwrap_or(0));
    Ok((ours, theirs))
}

/// Takes rows out of a case that an engine refuses, by table and place.
pub fn leave_out(case: &mut Case, refused: &[(String, usize)]) {
    for (table, rows) in &mut case.rows {
        let mut at = 0;
        rows.retain(|_| {
            at += 1;
            !refused.iter().any(|(of, place)| of == table && *place == at - 1)
        });
    }
}
