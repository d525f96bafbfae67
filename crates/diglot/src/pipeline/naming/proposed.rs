//! Patterns of `[names]` that would bring together what faces nothing: endings and beginnings by which the pages differ.

use std::collections::{BTreeMap, BTreeSet};

use super::{apply, names_of, tell_apart};
use crate::dialect::{Both, Dialect};
use crate::extract;
use crate::page::Page;
use crate::project::Inputs;

/// How many pairs a pattern has to bring together.
const LEAST: usize = 2;

/// Lines of `[names]`: a pattern of the SQLite pages, and that of the Postgres pages.
pub(super) fn proposed(inputs: &Inputs, mut pages: Vec<Page>) -> Vec<(String, String)> {
    tell_apart(inputs, &mut pages);
    apply(inputs, &mut pages, &mut Vec::new());
    let names = Both::of(|dialect| names_of(&pages, dialect));
    let alone = Both::of(|dialect: Dialect| -> Alone {
        let statements = pages.iter().filter(|page| page.dialect == dialect).flat_map(|page| &page.statements);
        let of = statements.filter(|raw| !names[dialect.other()].contains(&raw.name)).map(|raw| {
            let text = raw.parts.first().map(|part| inputs.sources.text(part.span)).unwrap_or_default();
            (raw.name.clone(), extract::deed(text).unwrap_or_default())
        });
        of.collect()
    });
    lines(alone)
}

/// The patterns, the one that brings the most together first.
fn lines(mut alone: Both<Alone>) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    while let Some((pattern, pairs)) = best(&alone) {
        for (sqlite, pg) in &pairs {
            alone.sqlite.remove(sqlite);
            alone.pg.remove(pg);
        }
        lines.push(pattern);
    }
    lines
}

/// Statements that face nothing, with what each does to which table.
type Alone = BTreeMap<String, String>;

/// A line with the pairs that it brings together.
type Line = ((String, String), Vec<(String, String)>);

/// The pattern that brings the most together; of several the one that says the least.
fn best(alone: &Both<Alone>) -> Option<Line> {
    let mut patterns: BTreeMap<(String, String), Vec<(String, String)>> = BTreeMap::new();
    for (sqlite, own) in &alone.sqlite {
        for (pg, _) in alone.pg.iter().filter(|(_, other)| *other == own) {
            for pattern in [by_ending(sqlite, pg), by_beginning(sqlite, pg)].into_iter().flatten() {
                patterns.entry(pattern).or_default().push((sqlite.clone(), pg.clone()));
            }
        }
    }
    // What a pattern brings to two statements at once it does not tell apart.
    let is_clear = |pairs: &[(String, String)]| {
        let ends = |of: fn(&(String, String)) -> &String| pairs.iter().map(of).collect::<BTreeSet<_>>().len();
        pairs.len() >= LEAST && ends(|pair| &pair.0) == pairs.len() && ends(|pair| &pair.1) == pairs.len()
    };
    let clear: Vec<Line> = patterns.into_iter().filter(|(_, pairs)| is_clear(pairs)).collect();
    // Nor does one where another, which brings as many together, gives some of them to other statements.
    let parts = |one: &(String, String), other: &(String, String)| (one.0 == other.0) != (one.1 == other.1);
    let is_alone = |line: &&Line| {
        let against = |other: &Line| {
            other.1.len() >= line.1.len() && line.1.iter().any(|one| other.1.iter().any(|another| parts(one, another)))
        };
        !clear.iter().any(against)
    };
    let alone = clear.iter().filter(is_alone);
    alone.max_by_key(|((sqlite, pg), pairs)| (pairs.len(), usize::MAX - sqlite.len() - pg.len())).cloned()
}

/// `find_lot_qry` beside `find_lot_query`.
fn by_ending(sqlite: &str, pg: &str) -> Option<(String, String)> {
    let same = sqlite.bytes().zip(pg.bytes()).take_while(|(one, other)| one == other).count();
    // The words that both begin with, whole; one of them may have nothing else.
    let is_end = |name: &str, at: usize| at == name.len() || name[at..].starts_with('_');
    let at = (1..=same).rev().find(|at| is_end(sqlite, *at) && is_end(pg, *at))?;
    Some((format!("*{}", &sqlite[at..]), format!("*{}", &pg[at..])))
}

/// `do_find_lot` beside `find_lot`.
fn by_beginning(sqlite: &str, pg: &str) -> Option<(String, String)> {
    let same = sqlite.bytes().rev().zip(pg.bytes().rev()).take_while(|(one, other)| one == other).count();
    let is_start = |name: &str, behind: usize| {
        let at = name.len() - behind;
        at == 0 || name[..at].ends_with('_')
    };
    let behind = (1..=same).rev().find(|behind| is_start(sqlite, *behind) && is_start(pg, *behind))?;
    Some((format!("{}*", &sqlite[..sqlite.len() - behind]), format!("{}*", &pg[..pg.len() - behind])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(sqlite: &[&str], pg: &[&str]) -> Vec<(String, String)> {
        let set = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), String::new())).collect();
        super::lines(Both { sqlite: set(sqlite), pg: set(pg) })
    }

    #[test]
    fn what_parts_several_pairs_is_a_pattern() {
        let line = |sqlite: &str, pg: &str| (sqlite.to_owned(), pg.to_owned());
        let sqlite = ["lot_add_qry", "lot_end_qry", "bay_add", "bay_end", "other"];
        let pg = ["lot_add_query", "lot_end_query", "do_bay_add", "do_bay_end", "some"];
        assert_eq!(lines(&sqlite, &pg), [line("*", "do_*"), line("*_qry", "*_query")]);
        assert_eq!(lines(&["lot_add_tx", "lot_end_tx"], &["lot_add", "lot_end"]), [line("*_tx", "*")]);
        assert_eq!(lines(&["lot_add_qry"], &["lot_add_query"]), []);
        // Two statements of one page would face one of the other.
        assert_eq!(lines(&["lot_add", "bay_add"], &["lot_end", "lot_put", "bay_end", "bay_put"]), []);
    }
}
