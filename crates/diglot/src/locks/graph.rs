//! Who waits for what while holding what: the locks of all statements and transactions together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Act, Extent, Lock, Strength, Summary, Term};
use crate::config::{Locks, Transactions};
use crate::source::{Sources, Span};

/// A statement with what it locks.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its name.
    pub name: String,
    /// Its text on the Postgres page.
    pub(crate) span: Span,
    /// What it locks.
    pub(crate) summary: Summary,
}

/// A lock of one of the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    run: usize,
    lock: usize,
}

/// A lock that is waited for while another one is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The one that is held.
    pub(crate) held: Held,
    /// The one that is waited for.
    pub wanted: Held,
    /// The transaction that holds the one across statements.
    pub(crate) within: Option<String>,
    /// Whether the statement may take the two the other way round.
    pub open: bool,
}

/// All statements that lock rows, and the waits among their locks.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    runs: Vec<Run>,
    waits: Vec<Wait>,
    /// For each statement, its locks that earlier ones have in every transaction that lists it.
    had: Vec<BTreeSet<u32>>,
    /// For each statement, the locks of rows that belong to a row of another table, and whether it has that one.
    under: Vec<BTreeMap<u32, bool>>,
    /// Statements that wait in another order, for a reason that their pages give.
    excused: BTreeSet<String>,
}

/// How a row is taken.
pub(crate) type Kind = (Act, Strength);

/// The rows that a wait holds and those that it is for; where nothing says their order, the statement that takes them.
pub(crate) type Shape<'g> = ((&'g str, Kind), (&'g str, Kind), Option<usize>);

impl Graph {
    /// Puts together what statements lock alone and, one after the other, in transactions.
    pub(crate) fn new(runs: Vec<Run>, transactions: &Transactions, said: Option<&Locks>) -> Self {
        let none = BTreeMap::new();
        let under = said.map_or(&none, |said| &said.under);
        let mut graph = Self { had: vec![BTreeSet::new(); runs.len()], runs, ..Self::default() };
        for (run, of) in graph.runs.iter().enumerate() {
            for (first, second) in &of.summary.pairs {
                let (held, wanted) = (Held { run, lock: *first as usize }, Held { run, lock: *second as usize });
                if !of.summary.locks[wanted.lock].waits {
                    continue;
                }
                let locks = &of.summary.locks;
                let one = [first, second].into_iter().any(|at| locks[*at as usize].extent == Extent::One);
                let open = one && of.summary.pairs.contains(&(*second, *first));
                graph.waits.push(Wait { held, wanted, within: None, open });
            }
        }
        let by_name: BTreeMap<&str, usize> =
            graph.runs.iter().enumerate().map(|(at, run)| (run.name.as_str(), at)).collect();
        let own = |run: &Run| {
            let locks = (0_u32..).zip(&run.summary.locks);
            locks.filter_map(|(at, lock)| Some((at, run.has_above(at, under.get(&lock.table)?)))).collect()
        };
        graph.under = graph.runs.iter().map(own).collect();
        let mut listed: Vec<BTreeMap<u32, bool>> = vec![BTreeMap::new(); graph.runs.len()];
        let mut waits = Vec::new();
        let mut missed: Vec<Option<BTreeSet<u32>>> = vec![None; graph.runs.len()];
        for (name, statements) in transactions {
            let runs: Vec<usize> = statements.iter().filter_map(|name| by_name.get(name.as_str()).copied()).collect();
            // What a statement holds that comes a second time is another row.
            let round = |at: usize| runs[..at].iter().filter(|run| **run == runs[at]).count();
            for (later, run) in runs.iter().enumerate() {
                let missed = missed[*run].get_or_insert_default();
                for (lock, wanted) in graph.runs[*run].summary.locks.iter().enumerate() {
                    let has = |at: &usize| {
                        let locks = &graph.runs[runs[*at]].summary.locks;
                        round(*at) == round(later) && locks.iter().any(|held| wanted.is_held_by(held))
                    };
                    if let Some(above) = under.get(&wanted.table) {
                        let earlier = (0..later).filter(|at| round(*at) == round(later));
                        let mut locks = earlier.flat_map(|at| &graph.runs[runs[at]].summary.locks);
                        let has = locks.any(|held| held.table == *above && wanted.is_below_earlier(held));
                        *listed[*run].entry(lock as u32).or_insert(true) &= has;
                    }
                    if (0..later).any(|at| has(&at)) {
                        continue;
                    }
                    missed.insert(lock as u32);
                    if !wanted.waits {
                        continue;
                    }
                    for earlier in &runs[..later] {
                        for held in 0..graph.runs[*earlier].summary.locks.len() {
                            let held = Held { run: *earlier, lock: held };
                            let wanted = Held { run: *run, lock };
                            waits.push(Wait { held, wanted, within: Some(name.clone()), open: false });
                        }
                    }
                }
            }
        }
        for ((had, missed), run) in graph.had.iter_mut().zip(missed).zip(&graph.runs) {
            let Some(missed) = missed else { continue };
            let locks = run.summary.locks.len() as u32;
            had.extend((0..locks).filter(|lock| !missed.contains(lock)));
        }
        for (own, listed) in graph.under.iter_mut().zip(listed) {
            own.iter_mut().for_each(|(lock, has)| *has |= listed.get(lock) == Some(&true));
        }
        let had = &graph.had;
        graph.waits.retain(|wait| !had[wait.wanted.run].contains(&(wait.wanted.lock as u32)));
        graph.waits.extend(waits);
        graph.keep_one_of_each();
        graph
    }

    /// Keeps one wait of each statement for the same tables in the same way.
    fn keep_one_of_each(&mut self) {
        let mut seen = BTreeSet::new();
        let (runs, mut waits) = (&self.runs, std::mem::take(&mut self.waits));
        waits.sort_by_key(|wait| wait.open);
        let key = |at: Held| {
            let lock = &runs[at.run].summary.locks[at.lock];
            (lock.table.as_str(), lock.act as u8, lock.strength)
        };
        let is_new = |wait: &Wait| seen.insert((wait.wanted.run, key(wait.held), key(wait.wanted)));
        self.waits = waits.into_iter().filter(is_new).collect();
    }

    /// Notes which statements may wait in another order.
    pub(crate) fn excuse(&mut self, statements: impl Iterator<Item = String>) {
        self.excused.extend(statements);
    }

    /// The statements that wait in another order, for a reason that their pages give.
    pub fn excused(&self) -> &BTreeSet<String> {
        &self.excused
    }

    /// The statements.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The locks of a statement for which it may have to wait: those that no transaction has when it comes.
    pub(crate) fn waited(&self, run: usize) -> BTreeSet<u32> {
        let locks = self.runs[run].summary.locks.len() as u32;
        let is_new = |lock: &u32| !self.had[run].contains(lock) && !self.under[run].contains_key(lock);
        (0..locks).filter(is_new).collect()
    }

    /// Whether a lock is one of a row for which nobody waits, because it belongs to another one.
    pub(crate) fn is_under(&self, at: Held) -> bool {
        self.under[at.run].contains_key(&(at.lock as u32))
    }

    /// The locks of rows that are taken without that of the row that they belong to.
    pub(crate) fn loose(&self) -> Vec<Held> {
        let mut found = Vec::new();
        for (run, under) in self.under.iter().enumerate() {
            let loose =
                under.iter().filter(|(lock, has)| !**has && self.runs[run].summary.locks[**lock as usize].is_taken());
            found.extend(loose.map(|(lock, _)| Held { run, lock: *lock as usize }));
        }
        found
    }

    /// The waits between rows of different tables for a row that somebody may hold, by who holds one for which somebody
    /// may wait.
    pub(crate) fn waits(&self) -> Vec<&Wait> {
        let mut held: BTreeMap<&str, BTreeSet<(u8, Strength)>> = BTreeMap::new();
        let mut acts: BTreeMap<u8, Act> = BTreeMap::new();
        for lock in self.runs.iter().flat_map(|run| &run.summary.locks) {
            acts.insert(lock.act as u8, lock.act);
            held.entry(&lock.table).or_default().insert((lock.act as u8, lock.strength));
        }
        let is_real = |wait: &&Wait| {
            let (from, to) = (self.lock(wait.held), self.lock(wait.wanted));
            let holders = held.get(to.table.as_str()).into_iter().flatten();
            let mut kinds = holders.filter_map(|(act, strength)| Some((*acts.get(act)?, *strength)));
            from.table != to.table
                && !self.is_under(wait.wanted)
                && !self.is_under(wait.held)
                && kinds.any(|kind| excludes(kind, (to.act, to.strength)))
        };
        self.waits.iter().filter(is_real).collect()
    }

    /// A lock.
    pub(crate) fn lock(&self, at: Held) -> &Lock {
        &self.runs[at.run].summary.locks[at.lock]
    }

    /// The statement that takes a lock.
    pub fn run(&self, at: Held) -> &Run {
        &self.runs[at.run]
    }

    /// Where a lock is taken.
    pub(crate) fn span(&self, at: Held) -> Span {
        self.runs[at.run].place(self.lock(at))
    }

    /// What a lock is, in a few words.
    pub(crate) fn words(&self, at: Held) -> String {
        let lock = self.lock(at);
        let via = lock.via.iter().map(|name| format!(" by `{name}`")).collect::<String>();
        format!("{} `{}`{via}", lock.act.word(), lock.table)
    }

    /// The waits between tables from which there is a way back at all, which few are: only there is a circle looked for.
    pub(crate) fn in_circles<'w>(&self, waits: Vec<&'w Wait>) -> Vec<&'w Wait> {
        let tables = |wait: &Wait| (self.lock(wait.held).table.as_str(), self.lock(wait.wanted).table.as_str());
        let edges: BTreeSet<(&str, &str)> = waits.iter().map(|wait| tables(wait)).collect();
        let leads = |from: &str, to: &str| {
            let mut reached = vec![from];
            let mut at = 0;
            while let Some(table) = reached.get(at).copied() {
                at += 1;
                let next = edges.iter().filter(|(held, wanted)| *held == table && !reached.contains(wanted));
                let next: Vec<&str> = next.map(|(_, wanted)| *wanted).collect();
                reached.extend(next);
            }
            reached.contains(&to)
        };
        let back: BTreeSet<(&str, &str)> = edges.iter().filter(|(held, wanted)| leads(wanted, held)).copied().collect();
        waits.into_iter().filter(|wait| back.contains(&tables(wait))).collect()
    }

    /// The first of the waits that circles cannot tell apart: those of the same tables and kinds of locks.
    pub(crate) fn distinct<'w>(&self, waits: &[&'w Wait]) -> Vec<&'w Wait> {
        let mut seen = BTreeSet::new();
        waits.iter().copied().filter(|wait| seen.insert(self.shape(wait))).collect()
    }

    /// What a circle knows of a wait.
    pub(crate) fn shape(&self, wait: &Wait) -> Shape<'_> {
        (self.taken(wait.held), self.taken(wait.wanted), wait.open.then_some(wait.wanted.run))
    }

    /// The table of a row, and how it is taken.
    fn taken(&self, at: Held) -> (&str, Kind) {
        let lock = self.lock(at);
        (&lock.table, (lock.act, lock.strength))
    }

    /// The way from what a wait is for back to what it holds: waits that, each with the next, make a circle.
    pub(crate) fn way_back<'w>(&self, waits: &[&'w Wait], from: &Wait) -> Option<Vec<&'w Wait>> {
        // The order that nothing says is the same each time that a statement runs.
        let alike = |first: &Wait, next: &Wait| first.open && next.open && first.wanted.run == next.wanted.run;
        let meets = |first: &Wait, next: &Wait| {
            let ((wanted_table, wanted), (held_table, held)) = (self.taken(first.wanted), self.taken(next.held));
            wanted_table == held_table && excludes(held, wanted) && !alike(first, next)
        };
        let closes = |last: &Wait| meets(last, from);
        let mut ways: Vec<Option<usize>> = vec![None; waits.len()];
        let mut seen: Vec<bool> = waits.iter().map(|wait| meets(from, wait)).collect();
        let mut queue: Vec<usize> = (0..waits.len()).filter(|at| seen[*at]).collect();
        let mut at = 0;
        while let Some(index) = queue.get(at).copied() {
            at += 1;
            if closes(waits[index]) {
                let mut way = vec![waits[index]];
                let mut before = ways[index];
                while let Some(index) = before {
                    way.insert(0, waits[index]);
                    before = ways[index];
                }
                return Some(way);
            }
            for next in 0..waits.len() {
                if !seen[next] && meets(waits[index], waits[next]) {
                    seen[next] = true;
                    ways[next] = Some(index);
                    queue.push(next);
                }
            }
        }
        None
    }

    /// Locks of several rows of one table that are taken in any order and waited for.
    pub(crate) fn unordered(&self) -> Vec<Held> {
        let mut found = Vec::new();
        for (run, of) in self.runs.iter().enumerate() {
            for (lock, of) in of.summary.locks.iter().enumerate() {
                let at = Held { run, lock };
                let is_had = self.had[run].contains(&(lock as u32));
                if of.waits && of.extent == Extent::Any && of.is_taken() && !self.is_under(at) && !is_had {
                    found.push(at);
                }
            }
        }
        found
    }

    /// The waits by their tables: what is held, what is waited for, and whether there is a way back. Those with a reason
    /// are not among them.
    pub fn edges(&self) -> Vec<(&str, &str, bool, Vec<&Wait>)> {
        let mut waits = self.waits();
        waits.retain(|wait| !self.excused.contains(&self.run(wait.wanted).name));
        let mut edges: BTreeMap<(&str, &str), Vec<&Wait>> = BTreeMap::new();
        for wait in &waits {
            let tables = (self.lock(wait.held).table.as_str(), self.lock(wait.wanted).table.as_str());
            edges.entry(tables).or_default().push(wait);
        }
        let distinct = self.distinct(&waits);
        let in_circle = |of: &Vec<&Wait>| self.distinct(of).iter().any(|wait| self.way_back(&distinct, wait).is_some());
        let with_circle = edges.into_iter().map(|((from, to), of)| (from, to, in_circle(&of), of));
        let mut edges: Vec<_> = with_circle.collect();
        edges.sort_by_key(|(from, to, circle, _)| (!circle, *from, *to));
        edges
    }

    /// The graph as text: circles first, each edge with the statements that make it.
    pub(crate) fn text(&self, sources: &Sources) -> String {
        let mut text = String::new();
        let place = |at: Held| {
            let span = self.span(at);
            let file = sources.file(span.file);
            let (line, column) = file.line_column(span.start as usize);
            format!("{}:{line}:{column}", file.path)
        };
        let edges = self.edges();
        // Writing to a String cannot fail.
        for (from, to, circle, waits) in &edges {
            let mark = if *circle { "  (circle)" } else { "" };
            let _ = writeln!(text, "{from} -> {to}{mark}");
            for wait in waits {
                let name = &self.run(wait.wanted).name;
                let within = wait.within.as_ref().map_or(String::new(), |name| format!(" in {name}"));
                let _ = writeln!(text, "  {name}{within}");
                let earlier = self.run(wait.held);
                let of = if earlier.name == *name { String::new() } else { format!("{} ", earlier.name) };
                let _ = writeln!(text, "    holds: {of}{} at {}", self.words(wait.held), place(wait.held));
                let _ = writeln!(text, "    waits: {} at {}", self.words(wait.wanted), place(wait.wanted));
            }
        }
        for name in &self.excused {
            let _ = writeln!(text, "{name} waits in another order: its page says why");
        }
        let circles = edges.iter().filter(|(.., circle, _)| *circle).count();
        let locking = self.runs.iter().filter(|run| !run.summary.locks.is_empty()).count();
        let _ = writeln!(text, "{locking} statements lock rows; {} edges, {circles} of them in circles", edges.len());
        text
    }
}

impl Run {
    /// Where a lock of the statement is taken.
    pub(crate) fn place(&self, lock: &Lock) -> Span {
        self.at(lock.start, lock.end)
    }

    /// Whether a lock comes when the statement has that of the row of another table to which its row belongs.
    fn has_above(&self, at: u32, above: &str) -> bool {
        let mut of = self.summary.under.iter().filter(|(_, below)| *below == at);
        of.any(|(held, _)| self.summary.locks[*held as usize].table == above)
    }

    /// A place of the statement.
    pub(crate) fn at(&self, start: u32, end: u32) -> Span {
        let base = self.span.start as usize;
        Span::new(self.span.file, base + start as usize..base + end.max(start + 1) as usize)
    }
}

impl Lock {
    /// Whether it is one of a row that was there before.
    pub(crate) fn is_taken(&self) -> bool {
        !matches!(self.act, Act::Insert | Act::Reference)
    }

    /// Whether its rows belong to those of another lock of the same statement: they have its key.
    pub(super) fn is_below(&self, above: &Self) -> bool {
        self.table != above.table && !above.key.is_empty() && above.key.iter().all(|term| self.has(term))
    }

    /// Whether its rows belong to those that an earlier statement of the transaction has locked.
    fn is_below_earlier(&self, above: &Self) -> bool {
        let parents = || self.parents.iter().filter(|parent| parent.table == above.table);
        (self.is_below(above) && above.key.iter().all(Term::is_known))
            || parents().any(|parent| above.takes_all(&parent.fixed))
    }

    /// Whether a term is one of its rows'.
    fn has(&self, term: &Term) -> bool {
        self.key.contains(term) || self.fixed.iter().any(|(_, known)| known == term)
    }

    /// Whether it takes all rows of which so much is fixed.
    fn takes_all(&self, fixed: &[(String, Term)]) -> bool {
        self.whole && self.fixed.iter().all(|own| own.1.is_known() && fixed.contains(own))
    }

    /// Whether a transaction that has the other lock has these rows already.
    fn is_held_by(&self, held: &Self) -> bool {
        let strong = held.strength >= self.strength || held.strength == Strength::NoKeyUpdate;
        let same = !self.key.is_empty() && self.key == held.key && self.key.iter().all(Term::is_known);
        let takes = held.act != Act::Insert || self.act == Act::Insert;
        // What is inserted was not there to be locked.
        let all = self.is_taken() && held.takes_all(&self.fixed);
        takes && strong && self.table == held.table && (same || all)
    }
}

/// Whether who has taken a row in the first way keeps the second out.
fn excludes((held, strength): Kind, (act, wanted): Kind) -> bool {
    let adds = |act: Act| matches!(act, Act::Insert | Act::Upsert);
    match (held, act) {
        // Nobody sees a row before it is committed, but for those who insert the same key.
        (Act::Insert, act) => adds(act),
        (held, Act::Insert) => adds(held) || held == Act::Delete,
        _ => strength.excludes(wanted),
    }
}
