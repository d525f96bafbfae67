//! Compares the facts of two pages and binds declared divergences to what they waive.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::facts::{Fact, Facts, Group, Kind, facts};
use crate::infer::PageOf;
use crate::normal::Node;
use crate::page::AnnotationKind;
use crate::source::Span;

/// Compares a pair. Declarations that waive nothing are errors too.
pub(crate) fn compare(sqlite: &PageOf<'_>, pg: &PageOf<'_>) -> Vec<Diagnostic> {
    let (left, right) = (facts(sqlite.tree), facts(pg.tree));
    let mut pair = Pair { sqlite, pg, declared: declarations(&[sqlite, pg]), found: Vec::new() };
    pair.cardinality();
    for facts in [&left, &right] {
        pair.torn(facts);
    }
    pair.groups(&left, &right);
    pair.result(&left, &right);
    pair.leftovers();
    pair.found
}

/// A `-- diverges(...)` and whether it was needed.
struct Declared {
    fact: String,
    item: Option<String>,
    span: Span,
    used: bool,
}

fn declarations(pages: &[&PageOf<'_>]) -> Vec<Declared> {
    pages
        .iter()
        .flat_map(|page| &page.raw.annotations)
        .filter_map(|annotation| match &annotation.kind {
            AnnotationKind::Diverges { fact, item, fact_span, .. } => {
                Some(Declared { fact: fact.clone(), item: item.clone(), span: *fact_span, used: false })
            }
            _ => None,
        })
        .collect()
}

struct Pair<'p> {
    sqlite: &'p PageOf<'p>,
    pg: &'p PageOf<'p>,
    declared: Vec<Declared>,
    found: Vec<Diagnostic>,
}

/// A difference: what each page says, where one says nothing its place to say it.
struct Difference<'f> {
    kind: Kind,
    item: String,
    sqlite: Option<&'f Node>,
    pg: Option<&'f Node>,
}

impl Pair<'_> {
    fn name(&self) -> &str {
        &self.sqlite.raw.name
    }

    fn cardinality(&mut self) {
        if self.sqlite.raw.cardinality == self.pg.raw.cardinality {
            return;
        }
        let message = format!("`{}` promises different numbers of rows on its two pages", self.name());
        let found = Diagnostic::error("cardinality-differs", message, self.sqlite.raw.cardinality_span, "SQLite says this")
            .and(self.pg.raw.cardinality_span, "Postgres says this")
            .help("write the same word in both headers");
        self.found.push(found);
    }

    fn torn(&mut self, facts: &Facts) {
        for (name, first, other) in &facts.torn {
            let message = format!("`{}` repeats {name} with another body", self.name());
            let found = Diagnostic::error("unit-cte-differs", message, *other, "this one differs")
                .and(*first, "from this one")
                .help("write the same body in every statement of the unit");
            self.found.push(found);
        }
    }

    fn groups(&mut self, left: &Facts, right: &Facts) {
        for group in &left.groups {
            match right.groups.iter().find(|other| other.name == group.name) {
                Some(other) => self.facts(group, other),
                None => self.missing(group, true),
            }
        }
        for group in &right.groups {
            if !left.groups.iter().any(|other| other.name == group.name) {
                self.missing(group, false);
            }
        }
    }

    fn missing(&mut self, group: &Group, on_sqlite: bool) {
        // A page that reads other tables, as declared, has other parts.
        if self.waive(Kind::Parts, &group.name, &[]) || self.waive(Kind::Tables, &group.name, &[]) {
            return;
        }
        let (here, there, other) = if on_sqlite {
            ("SQLite", "Postgres", self.pg.raw.name_span)
        } else {
            ("Postgres", "SQLite", self.sqlite.raw.name_span)
        };
        let message = format!("`{}`: {} is on the {here} page only", self.name(), group.name);
        let found = Diagnostic::error("part-missing", message, group.span, format!("{here} does this"))
            .and(other, format!("{there} does not"))
            .help(format!("write it on the {there} page too, or declare: -- diverges(parts): <why only {here} does it>"));
        self.found.push(found);
    }

    fn facts(&mut self, left: &Group, right: &Group) {
        for (kind, ..) in Kind::ALL {
            let of = |group: &Group| -> Vec<Fact> { group.facts.iter().filter(|f| f.kind == kind).cloned().collect() };
            let (left, right) = (of(left), of(right));
            let differences = match kind {
                Kind::Where | Kind::Having | Kind::Tables | Kind::Group => unordered(kind, &left, &right),
                _ => keyed(kind, &left, &right),
            };
            for difference in differences {
                self.report(&difference);
            }
        }
    }

    fn result(&mut self, left: &Facts, right: &Facts) {
        let names = |facts: &Facts| -> Vec<String> { facts.result.iter().map(|(name, _)| name.clone()).collect() };
        let (left_names, right_names) = (names(left), names(right));
        let as_facts = |facts: &Facts| -> Vec<Fact> {
            let fact = |(item, node): &(String, Node)| Fact { kind: Kind::Columns, item: item.clone(), node: node.clone() };
            facts.result.iter().map(fact).collect()
        };
        let (left_facts, right_facts) = (as_facts(left), as_facts(right));
        for difference in keyed(Kind::Columns, &left_facts, &right_facts) {
            self.report(&difference);
        }
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        if left_names != right_names && sorted(left_names.clone()) == sorted(right_names.clone()) {
            let at = left_names.iter().zip(&right_names).position(|(a, b)| a != b).unwrap_or(0);
            let (a, b) = (&left.result[at], &right.result[at]);
            let message = format!("`{}` gives its columns in another order on each page", self.name());
            let found = Diagnostic::error("column-order-differs", message, a.1.span, format!("SQLite: `{}` is number {}", a.0, at + 1))
                .and(b.1.span, format!("Postgres: `{}` is number {}", b.0, at + 1))
                .help("write the columns in the same order on both pages");
            self.found.push(found);
        }
    }

    /// Whether a declaration covers such a difference; the declaration counts as needed then.
    fn waive(&mut self, kind: Kind, item: &str, nodes: &[&Node]) -> bool {
        let key = nodes.iter().map(|node| node.key()).collect::<String>();
        let json = key.contains("json-");
        let time = ["julianday", "now", "clock_timestamp", "unixepoch", "extract"].iter().any(|word| key.contains(word));
        let mut waived = false;
        for declared in &mut self.declared {
            let fits = declared.fact == kind.word() || declared.fact == "json" && json || declared.fact == "time" && time;
            let item_fits = declared.item.as_deref().is_none_or(|wanted| wanted == item || item.ends_with(&format!(" {wanted}")));
            if fits && item_fits {
                declared.used = true;
                waived = true;
            }
        }
        waived
    }

    fn report(&mut self, difference: &Difference<'_>) {
        let nodes: Vec<&Node> = [difference.sqlite, difference.pg].into_iter().flatten().collect();
        // `where.partition_key` names the column that a condition is about.
        let item = match difference.kind {
            Kind::Where => nodes.first().map_or(String::new(), |node| column_of(node)),
            _ => difference.item.clone(),
        };
        if self.waive(difference.kind, &item, &nodes) {
            return;
        }
        let kind = difference.kind;
        let of = if difference.item.is_empty() { String::new() } else { format!(" (`{}`)", difference.item) };
        let message = format!("`{}`: the pages differ in {}{of}", self.name(), kind.about());
        let mut found = match (difference.sqlite, difference.pg) {
            (Some(sqlite), Some(pg)) => {
                let (a, b) = sqlite.first_difference(pg);
                Diagnostic::error(kind.rule(), message, a.span, "SQLite says this").and(b.span, "Postgres says this")
            }
            (Some(sqlite), None) => Diagnostic::error(kind.rule(), message, sqlite.span, "only SQLite says this")
                .and(self.pg.raw.name_span, "Postgres does not"),
            (None, Some(pg)) => Diagnostic::error(kind.rule(), message, self.sqlite.raw.name_span, "SQLite does not say it")
                .and(pg.span, "only Postgres says this"),
            (None, None) => return,
        };
        let item = if difference.item.is_empty() { String::new() } else { format!(".{}", difference.item) };
        found = found.help(format!(
            "write the same on both pages, or declare under the header: -- diverges({}{item}): <why the pages may differ here>",
            kind.word()
        ));
        self.found.push(found);
    }

    fn leftovers(&mut self) {
        let mut words: Vec<&str> = Kind::ALL.iter().map(|row| row.1).collect();
        words.extend(["json", "time"]);
        for declared in std::mem::take(&mut self.declared) {
            if declared.used {
                continue;
            }
            let (rule, what) = if words.contains(&declared.fact.as_str()) {
                ("unused-divergence", "nothing differs there")
            } else {
                ("unknown-divergence", "this is no kind of fact")
            };
            let message = format!("`{}`: `-- diverges({})` waives nothing", self.name(), declared.fact);
            let help = if rule == "unused-divergence" {
                "remove the declaration: the pages agree without it".to_owned()
            } else {
                format!("the kinds of facts are: {}", words.join(", "))
            };
            self.found.push(Diagnostic::error(rule, message, declared.span, what).help(help));
        }
    }
}

fn column_of(node: &Node) -> String {
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        if node.kids.is_empty() && !node.head.starts_with([':', '\'']) {
            if let Some((_, column)) = node.head.rsplit_once('.') {
                return column.to_owned();
            }
        }
        stack.extend(node.kids.iter().rev());
    }
    String::new()
}

fn keyed<'f>(kind: Kind, left: &'f [Fact], right: &'f [Fact]) -> Vec<Difference<'f>> {
    let mut items: BTreeMap<&str, (Vec<&Node>, Vec<&Node>)> = BTreeMap::new();
    for fact in left {
        items.entry(&fact.item).or_default().0.push(&fact.node);
    }
    for fact in right {
        items.entry(&fact.item).or_default().1.push(&fact.node);
    }
    let mut differences = Vec::new();
    for (item, (left, right)) in items {
        for index in 0..left.len().max(right.len()) {
            let (a, b) = (left.get(index).copied(), right.get(index).copied());
            if a.map(Node::key) != b.map(Node::key) {
                differences.push(Difference { kind, item: item.to_owned(), sqlite: a, pg: b });
            }
        }
    }
    differences
}

fn unordered<'f>(kind: Kind, left: &'f [Fact], right: &'f [Fact]) -> Vec<Difference<'f>> {
    let mut theirs: Vec<&Node> = right.iter().map(|fact| &fact.node).collect();
    let mut ours = Vec::new();
    for fact in left {
        match theirs.iter().position(|node| node.key() == fact.node.key()) {
            Some(at) => {
                theirs.remove(at);
            }
            None => ours.push(&fact.node),
        }
    }
    let mut differences = Vec::new();
    for node in ours {
        // The likeliest partner is the one that is about the same column.
        let partner = theirs.iter().position(|other| kind == Kind::Tables || column_of(other) == column_of(node));
        let pg = partner.map(|at| theirs.remove(at));
        differences.push(Difference { kind, item: String::new(), sqlite: Some(node), pg });
    }
    differences.extend(theirs.into_iter().map(|node| Difference { kind, item: String::new(), sqlite: None, pg: Some(node) }));
    differences
}
