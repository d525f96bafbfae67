//! Compares the facts of two pages and binds declared divergences to what they waive.
//!
//! `difference` finds what differs, `report` words it with the lines to write, and here declarations meet
//! differences.

mod causes;
mod declared;
mod difference;
mod implied;
mod leftover;
mod numbers;
mod reason;
mod report;
mod rows;
mod settings;
mod spelled;
mod undeclared;

use std::collections::BTreeSet;

use self::causes::Told;
use self::declared::{Declared, declarations, digits, documents, flags, nullable, takes_unknown, unknown_words};
use self::difference::{Difference, joins, keyed, unordered};
use self::settings::Setting;
use crate::config::{Config, JsonText};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::facts::{Fact, Facts, Group, Kind, facts};
use crate::infer::PageOf;
use crate::normal::{Head, Node, Order, PairContext, Promised, ends_with_write, patterns, row_locks};
use crate::project::Stats;
use crate::rule;
use crate::source::{Sources, Span};
use crate::tree::{ExprKind, Part};

pub(crate) use self::causes::told_once;
pub use self::implied::Ground;
pub(crate) use self::reason::TAKEN_AS;
pub use self::rows::{Row, Verdict};

/// What a comparison gives.
pub(crate) struct Compared {
    /// The findings.
    pub(crate) found: Vec<Diagnostic>,
    /// The first difference that each declaration waives.
    pub(crate) waived: Vec<Waived>,
    /// All facts side by side, if they were to be kept.
    pub(crate) rows: Vec<Row>,
    /// How much was compared.
    pub(crate) stats: Stats,
    /// How many facts differ, declared or not.
    differing: usize,
}

/// A declaration with the places of a difference that it waives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waived {
    declaration: Span,
    places: Both<Place>,
}

/// Where a page says something, or where it does not.
#[derive(Debug, Clone, Copy)]
struct Place {
    span: Span,
    says: bool,
}

impl Waived {
    /// Adds what the pages say to findings about the declaration itself.
    pub(crate) fn show_both(&self, found: &mut [Diagnostic]) {
        let own = |finding: &&mut Diagnostic| {
            let at = finding.labels.first().map(|label| label.span);
            finding.rule == rule::MISSING_REASON.name
                && finding.labels.len() == 1
                && at.is_some_and(|at| self.declaration.contains(at))
        };
        for finding in found.iter_mut().filter(own) {
            for dialect in Dialect::ALL {
                let (title, place) = (dialect.title(), self.places[dialect]);
                let text =
                    if place.says { format!("{title} says this") } else { format!("{title} does not say it here") };
                *finding = finding.clone().and(place.span, text);
            }
        }
    }
}

/// Compares a pair. Declarations that waive nothing are errors too. The rows are made for those who read them.
pub(crate) fn compare(
    config: &Config,
    never_null: &BTreeSet<(String, String)>,
    sources: &Sources,
    sqlite: &PageOf<'_>,
    pg: &PageOf<'_>,
    keep_rows: bool,
) -> Compared {
    let promised = Promised::new(config, never_null);
    let is_named = config.locks.as_ref().is_some_and(|locks| locks.is_writer(&pg.raw.name));
    let as_writer = is_named && !ends_with_write(sqlite.tree);
    let texts_are_parsed = config.json_text == JsonText::Parsed;
    let manner = Manner { keep_rows, by_number: !config.generate.enabled, as_writer, texts_are_parsed };
    let mut compared = compare_with(&promised, sources, sqlite, pg, manner);
    if as_writer && compared.stats.held_by_writer == 0 {
        compared.found.push(report::no_lock(&pg.raw.name, pg.raw.name_span));
    }
    if promised.helped() {
        // What is the same only because the project says what its JSON fields and columns hold is waived as well.
        let bare = compare_with(&Promised::default(), sources, sqlite, pg, Manner { keep_rows: false, ..manner });
        compared.stats.waived += bare.differing.saturating_sub(compared.differing);
    }
    let manner = Manner { keep_rows: false, ..manner };
    if !compared.found.is_empty() && promised.asked_for_utc() {
        let with = compare_with(&Promised::in_utc(config, never_null), sources, sqlite, pg, manner);
        settings::name(&mut compared, &with, Setting::Utc);
    }
    if !texts_are_parsed && compared.found.iter().any(|finding| finding.rule == rule::COLUMNS_DIFFER.name) {
        let with = compare_with(&promised, sources, sqlite, pg, Manner { texts_are_parsed: true, ..manner });
        settings::name(&mut compared, &with, Setting::ParsedText);
    }
    compared
}

/// How a pair is compared.
#[derive(Clone, Copy)]
struct Manner {
    /// Keeps a row for each fact.
    keep_rows: bool,
    /// Parameters have numbers and no names.
    by_number: bool,
    /// The SQLite page only reads, and whoever runs it is the one writer.
    as_writer: bool,
    /// Whoever gets a document as text parses it.
    texts_are_parsed: bool,
}

fn compare_with(
    promised: &Promised<'_>,
    sources: &Sources,
    sqlite: &PageOf<'_>,
    pg: &PageOf<'_>,
    manner: Manner,
) -> Compared {
    let of_pg = pg.tree.exprs();
    let pair = PairContext {
        schemas: Both { sqlite: sqlite.schema, pg: pg.schema },
        promised,
        documents: documents(&[sqlite, pg]),
        ilike: patterns(pg),
        digits: digits(sqlite.tree, pg.tree, &of_pg),
        flags: flags(&of_pg),
        nullable: nullable(&[sqlite, pg]),
        under_write_lock: manner.as_writer || ends_with_write(sqlite.tree),
        takes_unknown: takes_unknown(&[sqlite, pg]),
        order: Order::of(sqlite.tree),
    };
    let (left, right) = (facts(sqlite.tree, &pair), facts(pg.tree, &pair));
    let declared = declarations(&[sqlite, pg]);
    let unknown = if pair.takes_unknown { unknown_words(sqlite.tree) + unknown_words(pg.tree) } else { 0 };
    let held_by_writer = if manner.as_writer { row_locks(pg.tree) } else { 0 };
    let stats = Stats { pairs: 1, waived: unknown, held_by_writer, ..Stats::default() };
    let mut comparison = Pair {
        sources,
        sqlite,
        pg,
        manner,
        declared,
        named: BTreeSet::new(),
        found: Vec::new(),
        told: Vec::new(),
        waived: Vec::new(),
        rows: manner.keep_rows.then(Vec::new),
        seals: Vec::new(),
        stats,
        differing: 0,
    };
    comparison.cardinality(!left.result.is_empty(), !right.result.is_empty());
    for facts in [&left, &right] {
        comparison.torn(facts);
    }
    comparison.groups(&left, &right);
    comparison.result(&left, &right);
    comparison.params();
    comparison.merge();
    comparison.leftovers();
    Compared {
        found: comparison.found,
        waived: comparison.waived,
        rows: comparison.rows.unwrap_or_default(),
        stats: comparison.stats,
        differing: comparison.differing,
    }
}

fn verdict(declaration: Option<Span>) -> Verdict {
    declaration.map_or(Verdict::Differs, Verdict::Declared)
}

/// Everything that a part says, for its seal.
fn said(group: &Group) -> String {
    let facts = group.facts.iter().map(|fact| format!("{} {} {}", fact.kind.word(), fact.item, fact.node.spelling()));
    facts.collect::<Vec<_>>().join("; ")
}

struct Pair<'p> {
    sources: &'p Sources,
    sqlite: &'p PageOf<'p>,
    pg: &'p PageOf<'p>,
    manner: Manner,
    declared: Vec<Declared>,
    /// The parameters in everything that differs, waived or not: they need no finding of their own.
    named: BTreeSet<String>,
    found: Vec<Diagnostic>,
    /// Differences that are not declared.
    told: Vec<Told>,
    waived: Vec<Waived>,
    /// All facts side by side, if they are wanted.
    rows: Option<Vec<Row>>,
    /// The seals for which declarations ask, by the place of each.
    seals: Vec<(Span, String)>,
    stats: Stats,
    /// How many facts differ, declared or not.
    differing: usize,
}

impl Pair<'_> {
    fn name(&self) -> &str {
        &self.sqlite.raw.name
    }

    /// Whether the headers promise the same. That one page alone gives rows is told of its columns.
    fn cardinality(&mut self, on_sqlite: bool, on_pg: bool) {
        if self.sqlite.raw.cardinality == self.pg.raw.cardinality || on_sqlite != on_pg {
            return;
        }
        let message = format!("{}: the headers promise different numbers of rows", self.name());
        let found =
            Diagnostic::error(rule::CARDINALITY_DIFFERS, message, self.sqlite.raw.cardinality_span, "SQLite says this")
                .and(self.pg.raw.cardinality_span, "Postgres says this")
                .help("write the same word in both headers");
        self.found.push(found);
    }

    fn torn(&mut self, facts: &Facts) {
        for (name, first, other) in &facts.torn {
            let message = format!("{}: the unit repeats {name} with another body", self.name());
            let found = Diagnostic::error(rule::UNIT_CTE_DIFFERS, message, *other, "this one differs")
                .and(*first, "from this one")
                .help("write the same body in every statement of the unit");
            self.found.push(found);
        }
    }

    fn groups(&mut self, left: &Facts, right: &Facts) {
        let alone = |ours: &Facts, theirs: &Facts| -> Vec<Group> {
            let missing = |group: &&Group| !theirs.groups.iter().any(|other| other.name == group.name);
            ours.groups.iter().filter(missing).cloned().collect()
        };
        let (mut sqlite_alone, mut pg_alone) = (alone(left, right), alone(right, left));
        if let ([sqlite], [pg]) = (sqlite_alone.as_slice(), pg_alone.as_slice())
            && left.groups.len() == 1
            && right.groups.len() == 1
        {
            self.other_kind(sqlite, pg);
            sqlite_alone.clear();
            pg_alone.clear();
        }
        for group in &left.groups {
            if let Some(other) = right.groups.iter().find(|other| other.name == group.name) {
                self.facts(group, other);
            }
        }
        sqlite_alone.iter().for_each(|group| self.missing(group, true));
        pg_alone.iter().for_each(|group| self.missing(group, false));
    }

    /// One statement faces one statement, and they do something else.
    fn other_kind(&mut self, sqlite: &Group, pg: &Group) {
        for group in [sqlite, pg] {
            self.remember(group.facts.iter().map(|fact| &fact.node));
        }
        let same_verb = sqlite.name.split(' ').next() == pg.name.split(' ').next();
        let kind = if same_verb { Kind::Tables } else { Kind::Whole };
        self.stats.facts += 1;
        let keys = Both { sqlite, pg }.map(|group| Some(said(group)));
        let seal = report::seal(kind, &sqlite.name, &pg.name, keys);
        let waived = self.waive(kind, "", &seal, &[], self.whole());
        self.keep(|| [rows::other_kind(kind, Both { sqlite, pg }, verdict(waived))]);
        if waived.is_some() {
            return;
        }
        let message = format!("{}: the pages differ in {}", self.name(), kind.about());
        let found =
            Diagnostic::error(kind.rule(), message, self.sqlite.raw.name_span, format!("SQLite: {}", sqlite.name))
                .and(self.pg.raw.name_span, format!("Postgres: {}", pg.name))
                .help(format!("make both pages one of the two: `{}`, or `{}`", sqlite.name, pg.name))
                .help(report::declaration(kind, ""));
        self.found.push(found.sealed(seal));
    }

    fn remember<'n>(&mut self, nodes: impl Iterator<Item = &'n Node>) {
        for node in nodes {
            node.each(&mut |part| {
                if let Head::Param(name) = &part.head {
                    self.named.insert(name.clone());
                }
            });
        }
    }

    fn missing(&mut self, group: &Group, on_sqlite: bool) {
        self.remember(group.facts.iter().map(|fact| &fact.node));
        self.stats.facts += group.facts.len();
        let mut places = self.whole();
        let page = if on_sqlite { Dialect::Sqlite } else { Dialect::Pg };
        places[page] = Place { span: group.span, says: true };
        places[page.other()].says = false;
        // A page that reads other tables, as declared, has other parts.
        let keys = Both::of(|dialect| (dialect == page).then(|| said(group)));
        let seal = report::seal(Kind::Parts, &group.name, "", keys);
        let waived = self
            .waive(Kind::Parts, &group.name, &seal, &[], places)
            .or_else(|| self.waive(Kind::Tables, &group.name, &seal, &[], places));
        self.keep(|| rows::alone(group, on_sqlite, verdict(waived)));
        if waived.is_some() {
            self.stats.waived += group.facts.len().saturating_sub(1);
            return;
        }
        let (here, there, other) = if on_sqlite {
            ("SQLite", "Postgres", self.pg.raw.name_span)
        } else {
            ("Postgres", "SQLite", self.sqlite.raw.name_span)
        };
        let message = format!("{}: `{}` is on the {here} page only", self.name(), group.name);
        let found = Diagnostic::error(rule::PART_MISSING, message, group.span, format!("{here} does this"))
            .and(other, format!("{there} does not"))
            .help(format!("write it on the {there} page too, or delete it here"))
            .help(match self.is_sealed(Kind::Parts, &group.name, &seal, &[]) {
                true => {
                    report::declaration(Kind::Parts, &format!("{}#{seal}", group.name.rsplit(' ').next().unwrap_or("")))
                }
                false => report::declaration(Kind::Parts, ""),
            });
        self.found.push(found.sealed(seal));
    }

    fn facts(&mut self, left: &Group, right: &Group) {
        fn of(group: &Group, kind: Kind) -> Vec<&Fact> {
            group.facts.iter().filter(|fact| fact.kind == kind).collect()
        }
        let moved = joins(&of(left, Kind::Join), &of(right, Kind::Join));
        for (kind, ..) in Kind::ALL {
            let (ours, theirs) = (of(left, kind), of(right, kind));
            let mut differences = match kind {
                Kind::Where | Kind::Having | Kind::Tables | Kind::Group => unordered(kind, &ours, &theirs),
                _ => keyed(kind, &ours, &theirs),
            };
            // The condition of a join that is inner on one page alone stands in its WHERE.
            let is_moved = |node: Option<&Node>| node.is_none_or(|node| moved.contains(&node.key()));
            differences.retain(|d| kind != Kind::Where || !(is_moved(d.sqlite) && is_moved(d.pg)));
            // A limit that both pages have is one, though the keys of one page's table make it needless.
            differences.retain(|d| kind != Kind::Limit || d.sqlite.is_some() == d.pg.is_some() || !self.same_limits());
            // How a table is joined that one page alone reads is no difference of its own.
            differences.retain(|d| kind != Kind::Join || (d.sqlite.is_some() && d.pg.is_some()));
            self.count(ours.len() + theirs.len(), &differences);
            self.keep(|| rows::same(&left.name, &ours, &theirs, &differences));
            for difference in differences {
                self.report(&difference, &left.name, left.span, right.span);
            }
        }
    }

    fn result(&mut self, left: &Facts, right: &Facts) {
        let as_facts = |facts: &Facts| -> Vec<Fact> {
            let fact =
                |(item, node): &(String, Node)| Fact { kind: Kind::Columns, item: item.clone(), node: node.clone() };
            facts.result.iter().map(fact).collect()
        };
        let (left_facts, right_facts) = (as_facts(left), as_facts(right));
        let list = |facts: &[Fact], page: &PageOf<'_>| facts.last().map_or(page.raw.name_span, |fact| fact.node.span);
        let (left_list, right_list) = (list(&left_facts, self.sqlite), list(&right_facts, self.pg));
        let differences = keyed(Kind::Columns, &left_facts, &right_facts);
        self.count(left_facts.len() + right_facts.len(), &differences);
        self.keep(|| rows::same("result", &left_facts, &right_facts, &differences));
        for difference in differences {
            self.report(&difference, "result", left_list, right_list);
        }
        let names = |facts: &[Fact]| -> Vec<String> { facts.iter().map(|fact| fact.item.clone()).collect() };
        let (left_names, right_names) = (names(&left_facts), names(&right_facts));
        let sorted = |names: &[String]| names.iter().cloned().collect::<BTreeSet<String>>();
        if left_names == right_names || sorted(&left_names) != sorted(&right_names) {
            return;
        }
        let Some(at) = left_names.iter().zip(&right_names).position(|(a, b)| a != b) else { return };
        let (a, b) = (&left_facts[at], &right_facts[at]);
        let message = format!("{}: the pages give their columns in another order", self.name());
        let place = |page: &str, fact: &Fact| format!("{page}: `{}` is number {}", fact.item, at + 1);
        let found = Diagnostic::error(rule::COLUMN_ORDER_DIFFERS, message, a.node.span, place("SQLite", a))
            .and(b.node.span, place("Postgres", b))
            .help(format!("write the columns in one order on both pages: {}", left_names.join(", ")));
        self.found.push(found);
    }

    /// Parameters that one page alone uses, where no other difference shows them.
    fn params(&mut self) {
        for (page, facing, on_sqlite) in [(self.sqlite, self.pg, true), (self.pg, self.sqlite, false)] {
            let mut told = BTreeSet::new();
            for param in &page.tree.params {
                let there = facing.tree.params.iter().any(|other| other.name == param.name);
                if there
                    || self.named.contains(&param.name)
                    || !told.insert(&param.name)
                    || self.waive(Kind::Params, &param.name, &param.name, &[], self.whole()).is_some()
                {
                    continue;
                }
                let node = Node::leaf(Head::Param(param.name.clone()), param.span);
                let (sqlite, pg) = if on_sqlite { (Some(&node), None) } else { (None, Some(&node)) };
                let difference = Difference { kind: Kind::Params, item: param.name.clone(), sqlite, pg };
                self.report(&difference, "", self.sqlite.raw.name_span, self.pg.raw.name_span);
            }
        }
    }

    /// Whether both pages have the same numbers behind LIMIT.
    fn same_limits(&self) -> bool {
        let limits = |page: &PageOf<'_>| -> Vec<String> {
            let queries = page.tree.parts.iter().flat_map(Part::queries);
            let numbers = queries.filter_map(|query| match &query.limit.as_ref()?.kind {
                ExprKind::Number(text) => Some(text.clone()),
                _ => None,
            });
            numbers.collect()
        };
        limits(self.sqlite) == limits(self.pg)
    }

    /// The names of both statements.
    fn whole(&self) -> Both<Place> {
        let pages = Both { sqlite: self.sqlite, pg: self.pg };
        pages.map(|page| Place { span: page.raw.name_span, says: true })
    }

    /// Keeps facts side by side, which only a review reads: a build does not pay for texts that nobody sees.
    fn keep<R: IntoIterator<Item = Row>>(&mut self, rows: impl FnOnce() -> R) {
        if let Some(kept) = &mut self.rows {
            kept.extend(rows());
        }
    }

    /// Whether a declaration of such a difference asks for its seal.
    fn is_sealed(&mut self, kind: Kind, item: &str, seal: &str, nodes: &[&Node]) -> bool {
        let asking =
            self.declared.iter().filter(|declared| declared.seal.is_some() && declared.fits(kind, item, nodes));
        let seals: Vec<(Span, String)> = asking.map(|declared| (declared.span, seal.to_owned())).collect();
        let is_asked = !seals.is_empty();
        self.seals.extend(seals);
        is_asked
    }

    /// The seal that a declaration with an empty one asks for, when one difference alone can be meant.
    fn seal_of(&self, declared: &Declared) -> Option<&str> {
        let mut fitting = self.seals.iter().filter(|(span, _)| *span == declared.span);
        let (_, seal) = fitting.next()?;
        let is_empty = declared.seal.as_deref() == Some("");
        (is_empty && fitting.all(|(_, other)| other == seal)).then_some(seal)
    }

    /// Counts facts: one that both pages have, alike or not, counts once.
    fn count(&mut self, of_both: usize, differences: &[Difference<'_>]) {
        let alone = differences.iter().filter(|d| d.sqlite.is_none() || d.pg.is_none()).count();
        self.stats.facts += (of_both + alone) / 2;
        self.differing += differences.len();
    }

    /// The declaration that covers such a difference, if there is one; it counts as needed then.
    ///
    /// A declaration with a seal covers the one difference that has it.
    fn waive(&mut self, kind: Kind, item: &str, seal: &str, nodes: &[&Node], places: Both<Place>) -> Option<Span> {
        let mut waived = None;
        for declared in &mut self.declared {
            let seal_fits = declared.seal.as_deref().is_none_or(|wanted| wanted == seal);
            if seal_fits && declared.fits(kind, item, nodes) {
                if !declared.used {
                    self.waived.push(Waived { declaration: declared.line, places });
                }
                declared.used = true;
                waived = waived.or(Some(declared.line));
            }
        }
        self.stats.waived += usize::from(waived.is_some());
        waived
    }

    /// Reports a difference unless it is declared. `left` and `right` are where the groups stand.
    fn report(&mut self, difference: &Difference<'_>, group: &str, left: Span, right: Span) {
        let nodes: Vec<&Node> = difference.nodes().into_iter().flatten().collect();
        self.remember(nodes.iter().copied());
        if let (Some(sqlite), Some(pg)) = (difference.sqlite, difference.pg)
            && sqlite.key_before_writes() == pg.key()
        {
            // A read of what an earlier statement wrote: the lint `unit-read-after-write` tells it better.
            self.keep(|| [rows::differing(difference, group, Verdict::Same)]);
            return;
        }
        let pages = Both { sqlite: self.sqlite, pg: self.pg };
        if let Some(ground) = implied::ground(pages, difference, group, self.manner) {
            self.stats.implied += 1;
            self.stats.waived += 1;
            self.keep(|| [rows::differing(difference, group, Verdict::Implied(ground))]);
            return;
        }
        let place = |node: Option<&Node>, group: Span| match node {
            Some(node) => Place { span: node.span, says: true },
            None => Place { span: report::first_line(self.sources, group), says: false },
        };
        let places = Both { sqlite: place(difference.sqlite, left), pg: place(difference.pg, right) };
        let (kind, item) = (difference.kind, difference.named());
        let texts = difference.nodes().map(|node| node.map(Node::spelling));
        let seal = report::seal(kind, group, &item, texts);
        let waived = self.waive(kind, &item, &seal, &nodes, places);
        self.keep(|| [rows::differing(difference, group, verdict(waived))]);
        if waived.is_some() {
            return;
        }
        let sealed = self.is_sealed(kind, &item, &seal, &nodes).then_some(seal.as_str());
        let finding = report::finding(self.sources, pages, difference, left, right, sealed);
        let (alone, named, item) = (sealed.is_some(), item, difference.shown());
        let (finding, group) = (finding.sealed(seal), group.to_owned());
        self.told.push(Told { kind, group, item, named, alone, finding });
    }

    /// Takes the differences over as findings, one for each cause.
    fn merge(&mut self) {
        self.slips();
        let (told, name) = (std::mem::take(&mut self.told), self.name().to_owned());
        self.found.extend(causes::merged(&name, told));
        if self.manner.by_number {
            self.numbers();
        }
    }
}
