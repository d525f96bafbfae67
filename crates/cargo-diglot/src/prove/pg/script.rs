//! Many cases in one message: what is sent, and which case each answer of the server belongs to.
//!
//! A message is a text of several statements. The first of them that is refused ends it; what the server did before
//! counts, and the next message goes on behind what was refused.

use std::collections::BTreeSet;

use diglot_tools::prove::{Answer, Case, Fault, Ran, Rows};

/// The longest text that is sent at once, by its bytes.
const LONGEST: usize = 1 << 19;

/// What is done for cases with the same rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The rows are put there, for so many cases from this one on.
    Fill { case: usize, count: usize },
    /// A case's statement runs; before another one of the same rows it is taken back.
    Try { case: usize, is_first: bool },
    /// What it left is looked at.
    Look { case: usize },
    /// The rows are taken back.
    End,
}

/// A case's statement, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sent {
    /// This text runs it.
    Text(String),
    /// It is refused before anything is sent.
    Refused(Fault),
}

/// What a statement of a message is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Nobody looks at what it gives; what was tried if it is refused.
    Beside(&'static str),
    /// It puts rows there.
    Rows,
    /// It is the case's own.
    Own { case: usize },
    /// It reads a table that is compared.
    Table { case: usize, table: usize },
    /// It finds a row if the next number of a table is taken.
    Taken { case: usize, table: String },
}

/// A message.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) text: String,
    /// What each of its statements is for, and of which step it is.
    pub(super) parts: Vec<(Part, usize)>,
}

impl Message {
    pub(super) fn add(&mut self, step: usize, part: Part, sql: &str) {
        self.text.push_str(sql);
        // A text may end in a hint.
        self.text.push_str("\n;");
        self.parts.push((part, step));
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() > LONGEST
    }
}

/// The steps for cases of which those that follow each other may have the same rows.
pub(super) fn steps(cases: &[&Case]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut case = 0;
    for together in cases.chunk_by(|a, b| super::same_rows(a, b)) {
        steps.push(Step::Fill { case, count: together.len() });
        for at in case..case + together.len() {
            steps.push(Step::Try { case: at, is_first: at == case });
            steps.push(Step::Look { case: at });
        }
        steps.push(Step::End);
        case += together.len();
    }
    steps
}

/// What is known of a case so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) refused: Option<Vec<(String, usize)>>,
    pub(super) result: Option<Result<(Rows, u64), Fault>>,
    pub(super) tables: Vec<Rows>,
    pub(super) taken: BTreeSet<String>,
}

impl Known {
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.result, Some(Err(_)))
    }

    pub(super) fn ran(self) -> Ran {
        if let Some(rows) = self.refused {
            return Ran::Refused(rows);
        }
        let result = self.result.unwrap_or_else(|| Err(Fault::of("it was not run")));
        Ran::Answered(Answer { result, tables: self.tables, taken: self.taken, manner: "" })
    }
}

#[cfg(test)]
mod tests {
    use diglot_tools::prove::{Row, Value};

    use super::*;

    #[test]
    fn cases_that_follow_each_other_share_their_rows() {
        let case = |n: i64| {
            let row: Row = [("id".to_owned(), Value::Int(n))].into();
            Case { rows: [("job".to_owned(), vec![row])].into(), args: Row::new() }
        };
        let (one, two) = (case(1), case(2));
        let of = |case, is_first| [Step::Try { case, is_first }, Step::Look { case }];
        let first = [Step::Fill { case: 0, count: 2 }].into_iter().chain(of(0, true)).chain(of(1, false));
        let second = [Step::End, Step::Fill { case: 2, count: 1 }].into_iter().chain(of(2, true)).chain([Step::End]);
        assert_eq!(steps(&[&one, &one, &two]), first.chain(second).collect::<Vec<_>>());
    }
}
