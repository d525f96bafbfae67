//! Texts that show what they sort by, so that rows that come in another order can be told from rows that are alike.
//!
//! What is sorted by and not shown cannot be seen in an answer: two rows in another order may have the same keys. Such a
//! text has its keys behind the columns of its result. They are in no comparison but that of the order.

use super::order::{self, Order};
use super::result;
use super::subject::{Prover, Subject};
use diglot::dialect::{Both, Dialect};
use diglot::emitted::EmittedText;
use diglot::source::Span;
use diglot::tree::{ExprKind, OrderKey, Rows, Statement};

/// What a page sorts by, where its text can show all of it.
struct Keyed {
    /// Which column each key is: those of the result come first, and then those that it does not show.
    places: Vec<usize>,
    /// The texts of those that the result does not show.
    hidden: Vec<Span>,
    /// The last column of the result: behind it there is room for more.
    end: Span,
}

/// What a page sorts by; none where it does not, and where a text that shows it would have other rows.
fn keyed(tree: &Statement) -> Option<Keyed> {
    let query = result::query(tree)?;
    let Rows::Select(select) = &query.rows else { return None };
    let end = select.columns.last()?.span;
    if query.order.is_empty() || select.distinct.is_some() {
        return None;
    }
    let mut hidden = Vec::new();
    let place = |(key, place): (&OrderKey, Option<usize>)| match place {
        Some(place) => Some(place),
        // A number alone is no value but a place.
        None if matches!(key.expr.kind, ExprKind::Number(_)) || key.expr.span.file != end.file => None,
        None => {
            hidden.push(key.expr.span);
            Some(select.columns.len() + hidden.len() - 1)
        }
    };
    let places = query.order.iter().zip(order::places(query)).map(place).collect::<Option<_>>()?;
    Some(Keyed { places, hidden, end })
}

impl Prover<'_> {
    /// Has the texts show what they sort by, where no column of the result does.
    pub(super) fn show_keys(&self, subject: &mut Subject, trees: &Both<Statement>) {
        let known = self.compiled.signatures.iter().find(|signature| signature.name == subject.name).cloned();
        let signature = || known.or_else(|| Some(self.project.partial_signature(&subject.name)?.signature));
        let widths = trees.each_ref().map(|tree| tree.columns().len());
        let [texts] = subject.variants.as_slice() else { return };
        let is_plain = texts.pg.steps.is_none() && widths.iter().all(|width| *width == subject.columns.len());
        let keyed = trees.each_ref().map(keyed);
        let (true, Both { sqlite: Some(ours), pg: Some(theirs) }) = (is_plain, keyed) else { return };
        if subject.order == Order::Total || (ours.hidden.is_empty() && theirs.hidden.is_empty()) {
            return;
        }
        let Some(signature) = signature() else { return };
        let shown = |dialect: Dialect, keyed: &Keyed| match keyed.hidden.as_slice() {
            [] => Some(texts[dialect].clone()),
            hidden => {
                let file = &self.sources.file(keyed.end.file).text;
                let keys: String = hidden.iter().map(|key| format!(", {}", self.sources.text(*key))).collect();
                let changed = [&file[..keyed.end.range().end], &keys, &file[keyed.end.range().end..]].concat();
                let text = self.project.emitted(&signature, dialect, keyed.end.file, &changed)?;
                Some(EmittedText { variant: texts[dialect].variant.clone(), ..text })
            }
        };
        let (Some(sqlite), Some(pg)) = (shown(Dialect::Sqlite, &ours), shown(Dialect::Pg, &theirs)) else { return };
        subject.variants = vec![Both { sqlite, pg }];
        subject.keys = Both { sqlite: Some(ours.places), pg: Some(theirs.places) };
        subject.shows_keys = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Answer, Case, Prover, Relations, Subject};
    use diglot::source::{SourceFile, Sources};
    use diglot::value::Value;
    use diglot::{Inputs, compile};

    /// A statement that both pages have alike, over mills and the sacks that come from them.
    fn subject(sql: &str) -> Subject {
        let mut sources = Sources::default();
        for (dialect, whole, text) in [("sqlite", "INTEGER", "TEXT"), ("pg", "bigint", "text")] {
            let mill = format!(
                "CREATE TABLE mill (id {whole} NOT NULL PRIMARY KEY, name {text} NOT NULL, built {whole} NOT NULL);"
            );
            let sack = format!(
                "CREATE TABLE sack (id {whole} NOT NULL PRIMARY KEY, mill_id {whole} NOT NULL, kilos {whole} NOT NULL);"
            );
            sources.add(SourceFile::new(format!("schema/{dialect}/1.sql"), format!("{mill}\n{sack}\n")));
            sources
                .add(SourceFile::new(format!("sql/{dialect}/sack.sql"), format!("-- name: sack_list :many\n{sql};\n")));
        }
        let inputs = Inputs { sources, ..Inputs::default() };
        let compiled = compile(&inputs);
        Prover::new(&inputs, &compiled, &Relations::default()).subject("sack_list").expect("a pair")
    }

    fn answer(rows: &[[i64; 2]]) -> Answer {
        let rows = rows.iter().map(|row| row.map(Value::Int).to_vec()).collect();
        Answer { result: Ok((rows, 0)), tables: Vec::new(), taken: Default::default(), manner: "" }
    }

    const JOINED: &str = "SELECT s.kilos FROM sack AS s JOIN mill AS m ON m.id = s.mill_id ORDER BY m.built";

    #[test]
    fn rows_come_in_the_order_of_keys_that_no_column_shows() {
        let subject = subject(JOINED);
        assert!(subject.shows_keys);
        assert!(subject.variants[0].iter().all(|text| text.sql.contains("s.kilos, m.built")), "{:?}", subject.variants);
        let differs = |ours: &[[i64; 2]], theirs: &[[i64; 2]]| {
            subject.compare(&Case::default(), &answer(ours), &answer(theirs)).map(|difference| difference.sqlite)
        };
        assert_eq!(differs(&[[4, 1], [5, 2]], &[[5, 2], [4, 1]]), Some(vec!["kilos = 4".into(), "kilos = 5".into()]));
        assert_eq!(differs(&[[4, 1], [5, 1]], &[[5, 1], [4, 1]]), None, "mills of one year have no order");
        assert_eq!(differs(&[[4, 1], [5, 2]], &[[4, 7], [5, 9]]), None, "a key alone is no answer");
        let changed = Answer { result: Ok((vec![vec![Value::Int(5)], vec![Value::Int(4)]], 0)), ..answer(&[]) };
        let of_changed = subject.compare(&Case::default(), &answer(&[[4, 1], [5, 2]]), &changed);
        assert!(of_changed.is_some(), "a changed text may show no keys");
    }

    #[test]
    fn a_text_is_its_own_where_all_keys_are_shown_or_rows_would_change() {
        for sql in [
            "SELECT m.built, s.kilos FROM sack AS s JOIN mill AS m ON m.id = s.mill_id ORDER BY m.built",
            "SELECT kilos FROM sack ORDER BY id",
            "SELECT DISTINCT kilos FROM sack ORDER BY kilos",
        ] {
            assert!(!subject(sql).shows_keys, "{sql}");
        }
    }
}
