//! A statement taken apart into facts that can be compared one by one.
//!
//! A unit gives one group of facts per write and per CTE that reads, wherever it stands: several statements
//! on one page and one statement on the other give the same groups.

use std::collections::BTreeSet;

use crate::normal::{
    Form, Head, Names, Node, Op, PairContext, Relation, all_asked_for_truth, effective_join, offset, writing_part,
};
use crate::rule::{self, Rule};
use crate::source::Span;
use crate::tree::{
    Assignment, Body, Conflict, ConflictAction, Delete, Expr, Insert, OutputColumn, Part, Query, Rows, Select, Source,
    SourceKind, Statement,
};

/// What kind of fact: the word of `-- diverges(...)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Parts,
    Whole,
    Tables,
    Join,
    Where,
    Having,
    Group,
    Order,
    Limit,
    Offset,
    Distinct,
    SetOp,
    Columns,
    Insert,
    Set,
    Conflict,
    Lock,
    Params,
}

impl Kind {
    /// All, with the words and the rules that report them.
    pub const ALL: [(Kind, &'static str, Rule, &'static str); 18] = [
        (Kind::Parts, "parts", rule::PART_MISSING, "what they do"),
        (Kind::Whole, "kind", rule::KIND_DIFFERS, "what kind of statement they are"),
        (Kind::Tables, "tables", rule::TABLES_DIFFER, "the tables they read"),
        (Kind::Join, "join", rule::JOIN_DIFFERS, "how they join a table"),
        (Kind::Where, "where", rule::WHERE_DIFFERS, "which rows they take"),
        (Kind::Having, "having", rule::HAVING_DIFFERS, "which groups they take"),
        (Kind::Group, "group", rule::GROUP_DIFFERS, "how they group"),
        (Kind::Order, "order", rule::ORDER_DIFFERS, "the order of rows"),
        (Kind::Limit, "limit", rule::LIMIT_DIFFERS, "how many rows they take"),
        (Kind::Offset, "offset", rule::OFFSET_DIFFERS, "how many rows they skip"),
        (Kind::Distinct, "distinct", rule::DISTINCT_DIFFERS, "whether equal rows are one"),
        (Kind::SetOp, "set-op", rule::SET_OPERATION_DIFFERS, "how they put row sets together"),
        (Kind::Columns, "columns", rule::COLUMNS_DIFFER, "the columns they give"),
        (Kind::Insert, "insert", rule::INSERT_DIFFERS, "the values they insert"),
        (Kind::Set, "set", rule::SET_DIFFERS, "what they assign"),
        (Kind::Conflict, "conflict", rule::CONFLICT_DIFFERS, "what happens on a conflict"),
        (Kind::Lock, "lock", rule::LOCK_DIFFERS, "the locks they take"),
        (Kind::Params, "params", rule::PARAMS_DIFFER, "the parameters they use"),
    ];

    fn row(self) -> (Kind, &'static str, Rule, &'static str) {
        Kind::ALL.into_iter().find(|row| row.0 == self).unwrap_or(Kind::ALL[0])
    }

    /// The word of `-- diverges(...)`.
    pub(crate) fn word(self) -> &'static str {
        self.row().1
    }

    /// The rule that reports a difference.
    pub(crate) fn rule(self) -> Rule {
        self.row().2
    }

    /// What the pages then disagree about.
    pub(crate) fn about(self) -> &'static str {
        self.row().3
    }
}

/// One fact.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    pub kind: Kind,
    /// The column or clause it is about; empty where the kind has no items.
    pub item: String,
    /// What is said.
    pub node: Node,
}

/// The facts of one write, or of one CTE that reads, or of a plain query.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// What it is: `insert ff_attempt`, `cte picked`, `select`.
    pub name: String,
    pub facts: Vec<Fact>,
    pub span: Span,
}

/// All facts of a statement.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub groups: Vec<Group>,
    /// Result columns in order.
    pub result: Vec<(String, Node)>,
    /// CTEs that a unit repeats with another body: name, the first, the other.
    pub torn: Vec<(String, Span, Span)>,
}

/// Takes a statement apart.
pub(crate) fn facts<'t>(statement: &'t Statement, pair: &'t PairContext<'t>) -> Facts {
    let names = Names::new(statement, pair);
    let mut all = Facts { groups: Vec::new(), result: Vec::new(), torn: Vec::new() };
    for (index, part) in statement.parts.iter().enumerate() {
        let is_result = statement.result == Some(index);
        if is_result {
            all.result = outputs(&names, part);
        }
        let of_writes = of_writes(statement, part).filter(|_| is_result && statement.parts.len() > 1);
        if of_writes.is_some_and(|(query, select)| passes_on(query, select)) {
            continue;
        }
        let facts = part_facts(&names, part, of_writes.is_some());
        let mut group = Group { name: title(part), facts, span: part.span };
        if part.name.is_some() && matches!(part.body, Body::Query(_)) {
            if let Some(first) = all.groups.iter().find(|known| known.name == group.name) {
                if text(first) != text(&group) {
                    all.torn.push((group.name.clone(), first.span, group.span));
                }
                continue;
            }
        } else {
            let same = all.groups.iter().filter(|known| known.name.split('#').next() == Some(&group.name)).count();
            if same > 0 {
                group.name = format!("{}#{}", group.name, same + 1);
            }
        }
        all.groups.push(group);
    }
    all
}

fn text(group: &Group) -> Vec<String> {
    let mut lines: Vec<String> = group
        .facts
        .iter()
        .map(|fact| format!("{} {} {}", fact.kind.word(), fact.item, fact.node.key_before_writes()))
        .collect();
    lines.sort();
    lines
}

/// The SELECT of a part that reads nothing but what CTEs that write have returned.
fn of_writes<'p>(statement: &Statement, part: &'p Part) -> Option<(&'p Query, &'p Select)> {
    let Body::Query(query) = &part.body else { return None };
    let Rows::Select(select) = &query.rows else { return None };
    let writes = |source: &Source| source.cte().is_some_and(|name| writing_part(statement, name).is_some());
    (!select.from.is_empty() && select.from.iter().all(writes)).then_some((query, select))
}

/// Whether all rows of one write are passed on as they are: then there is nothing to say of it but the columns.
fn passes_on(query: &Query, select: &Select) -> bool {
    let is_bare = select.filter.is_none() && select.distinct.is_none() && select.group.is_empty();
    let all = query.limit.is_none() && query.offset.is_none() && query.order.is_empty() && select.having.is_none();
    select.from.len() == 1 && is_bare && all
}

fn title(part: &Part) -> String {
    let target = part.target().map_or("", |target| match &target.kind {
        SourceKind::Table(name) => name.as_str(),
        _ => "",
    });
    match (&part.body, &part.name) {
        (Body::Query(_), Some(name)) => format!("cte {name}"),
        (Body::Query(_), None) => "select".to_owned(),
        (Body::Insert(_), _) => format!("insert into {target}"),
        (Body::Update(_), _) => format!("update of {target}"),
        (Body::Delete(_), _) => format!("delete from {target}"),
    }
}

fn outputs(names: &Names<'_>, part: &Part) -> Vec<(String, Node)> {
    let list = |columns: &[OutputColumn]| {
        columns.iter().map(|c| (c.name.clone(), spanned(names.output(part, &c.expr), c.span))).collect()
    };
    match &part.body {
        Body::Query(query) => query_outputs(names, &query.rows),
        Body::Insert(insert) => list(&insert.returning),
        Body::Update(update) => list(&update.returning),
        Body::Delete(delete) => list(&delete.returning),
    }
}

fn spanned(node: Node, span: Span) -> Node {
    if node.kids.is_empty() { Node { span, ..node } } else { node }
}

fn query_outputs(names: &Names<'_>, rows: &Rows) -> Vec<(String, Node)> {
    match rows {
        Rows::Select(select) => {
            select.columns.iter().map(|c| (c.name.clone(), spanned(names.expr(&c.expr), c.span))).collect()
        }
        Rows::Set { left, .. } => query_outputs(names, left),
        Rows::Query(query) => query_outputs(names, &query.rows),
        Rows::Values(rows, _) => {
            let row = |row: &Vec<Expr>| -> Vec<(String, Node)> {
                row.iter().zip(1..).map(|(value, at)| (format!("column{at}"), names.expr(value))).collect()
            };
            rows.iter().flat_map(row).collect()
        }
    }
}

fn part_facts(names: &Names<'_>, part: &Part, is_of_writes: bool) -> Vec<Fact> {
    let mut facts = Collector { names, is_of_writes, facts: Vec::new() };
    match &part.body {
        Body::Query(query) => {
            facts.query(query);
            if part.name.is_some() {
                for (name, node) in query_outputs(names, &query.rows) {
                    facts.push(Kind::Columns, name, node);
                }
            }
        }
        Body::Insert(insert) => facts.insert(insert),
        Body::Update(update) => {
            facts.set(&update.set);
            facts.sources(&update.from, update.filter.as_ref());
            facts.conjuncts(Kind::Where, update.filter.as_ref());
        }
        Body::Delete(delete) => facts.delete(delete),
    }
    facts.facts
}

struct Collector<'n, 't> {
    names: &'n Names<'t>,
    /// Whether it reads what writes of the same statement have returned, on either page.
    is_of_writes: bool,
    facts: Vec<Fact>,
}

impl Collector<'_, '_> {
    fn push(&mut self, kind: Kind, item: impl Into<String>, node: Node) {
        self.facts.push(Fact { kind, item: item.into(), node });
    }

    fn query(&mut self, query: &Query) {
        match &query.rows {
            Rows::Select(select) => self.select(select),
            Rows::Values(..) => {}
            rows @ (Rows::Set { .. } | Rows::Query(_)) => {
                let bare = Query { rows: rows.clone(), order: Vec::new(), limit: None, offset: None, ..query.clone() };
                let node = self.names.query(&bare);
                self.push(Kind::SetOp, "", node);
            }
        }
        for (name, cte) in &query.ctes {
            let node = Node::list(Head::Cte(name.clone()), vec![self.names.query(cte)], cte.span);
            self.push(Kind::Tables, "", node);
        }
        if !query.order.is_empty() {
            let span = query.order.iter().map(|key| key.span).reduce(Span::to).unwrap_or(query.span);
            let node = self.names.order_of_rows(query, span);
            self.push(Kind::Order, "", node);
        }
        let offset = offset(query).map(|offset| self.names.expr(offset));
        for (kind, node) in [(Kind::Limit, self.names.limit(query)), (Kind::Offset, offset)] {
            node.into_iter().for_each(|node| self.push(kind, "", node));
        }
        for lock in query.locks.iter().filter(|lock| !self.names.is_held_anyway(lock)) {
            let text = format!("for {} {}", lock.strength, lock.wait);
            self.push(Kind::Lock, "", Node::leaf(Head::Clause(text.trim_end().to_owned()), lock.span));
        }
    }

    fn select(&mut self, select: &Select) {
        match self.names.behind(select) {
            Some(inner) => {
                self.sources(&inner.from, inner.filter.as_ref());
                self.conjuncts(Kind::Where, inner.filter.as_ref());
            }
            None => self.sources(&select.from, select.filter.as_ref()),
        }
        self.conjuncts(Kind::Where, select.filter.as_ref());
        for key in &select.group {
            let node = self.names.expr(key);
            self.push(Kind::Group, "", node);
        }
        self.conjuncts(Kind::Having, select.having.as_ref());
        if let Some((keys, span)) = &select.distinct {
            let mut kids: Vec<Node> = keys.iter().map(|key| self.names.expr(key)).collect();
            // One row of each of them, where they are all that is shown, is each row once.
            let shown: BTreeSet<String> =
                select.columns.iter().map(|column| self.names.expr(&column.expr).key()).collect();
            let keys: BTreeSet<String> = kids.iter().map(Node::key).collect();
            if shown == keys {
                kids.clear();
            }
            self.push(Kind::Distinct, "", Node::list(Form::Distinct, kids, *span));
        }
    }

    /// Sources are facts, and how each is joined; the condition of an inner join is a condition like any other.
    fn sources(&mut self, sources: &[Source], filter: Option<&Expr>) {
        for source in sources {
            let join = source.join.as_ref();
            let kind = effective_join(source, filter);
            let mut node = self.names.source(source, filter);
            node.kids.retain(|kid| kid.head != Form::On);
            if let Head::Source(joined) = &mut node.head {
                joined.join = None;
            }
            let relation = self.names.relation(source.id).to_string();
            self.push(Kind::Tables, "", node);
            let on = join.and_then(|join| join.on.as_ref());
            let span = join.map_or(source.span, |join| join.span);
            if kind.is_none() {
                self.push(Kind::Join, relation, Node::leaf(Head::Join(None), span));
                self.conjuncts(Kind::Where, on);
            } else {
                let on = on.map_or_else(Vec::new, |on| self.flat(on));
                self.push(Kind::Join, relation, Node::set(Head::Join(kind), on, span));
            }
            if let Some(handed) = self.names.handed_over(source).filter(|_| !self.is_of_writes) {
                self.sources(&handed.sources, handed.filter);
                self.conjuncts(Kind::Where, handed.filter);
                handed.key.into_iter().for_each(|node| self.push(Kind::Where, "", node));
            }
        }
    }

    /// The conjuncts of a condition; what is always true is none.
    fn flat(&self, filter: &Expr) -> Vec<Node> {
        let node = self.names.expr(filter);
        let list = if node.head == Op::And { node.kids } else { vec![node] };
        all_asked_for_truth(list.into_iter().filter(|node| !node.head.is_number("1")).collect())
    }

    fn conjuncts(&mut self, kind: Kind, filter: Option<&Expr>) {
        let Some(filter) = filter else { return };
        for conjunct in self.flat(filter) {
            self.push(kind, "", conjunct);
        }
    }

    /// `DELETE … USING t WHERE p` deletes what `DELETE … WHERE EXISTS (SELECT 1 FROM t WHERE p)` deletes.
    fn delete(&mut self, delete: &Delete) {
        if delete.using.is_empty() {
            self.conjuncts(Kind::Where, delete.filter.as_ref());
            return;
        }
        let names = self.names;
        let relations: Vec<Relation> = delete.using.iter().map(|source| names.relation(source.id)).collect();
        let mut conditions = delete.filter.as_ref().map_or_else(Vec::new, |filter| self.flat(filter));
        for on in delete.using.iter().filter_map(|source| source.join.as_ref()?.on.as_ref()) {
            conditions.extend(self.flat(on));
        }
        let (mut inside, outside): (Vec<Node>, Vec<Node>) =
            conditions.into_iter().partition(|node| relations.iter().any(|relation| node.reads(relation)));
        let span = delete.using.iter().map(|source| source.span).reduce(Span::to).unwrap_or(delete.target.span);
        let sources = delete.using.iter().map(|source| {
            let mut node = names.source(source, None);
            node.kids.retain(|kid| kid.head != Form::On);
            node
        });
        let mut kids = vec![Node::set(Form::From, sources.collect(), span)];
        match inside.len() {
            0 => {}
            1 => kids.push(Node::list(Form::Where, inside, span)),
            _ => {
                let all = Node::set(Op::And, std::mem::take(&mut inside), span);
                kids.push(Node::list(Form::Where, vec![all], span));
            }
        }
        self.push(Kind::Where, "", Node::list(Op::Exists, vec![Node::list(Form::Select, kids, span)], span));
        outside.into_iter().for_each(|node| self.push(Kind::Where, "", node));
    }

    fn set(&mut self, set: &[Assignment]) {
        for assignment in set {
            let node = spanned(self.names.expr(&assignment.value), assignment.span);
            self.push(Kind::Set, assignment.column.clone(), node);
        }
    }

    fn insert(&mut self, insert: &Insert) {
        let values: Vec<Vec<Node>> = match &insert.rows.rows {
            Rows::Select(select) => {
                vec![select.columns.iter().map(|c| spanned(self.names.expr(&c.expr), c.span)).collect()]
            }
            Rows::Values(rows, _) => rows.iter().map(|row| row.iter().map(|e| self.names.expr(e)).collect()).collect(),
            _ => Vec::new(),
        };
        for row in values {
            for ((column, span), value) in insert.columns.iter().zip(row) {
                let node = if value.span.end == 0 { spanned(value, *span) } else { value };
                self.push(Kind::Insert, column.clone(), node);
            }
        }
        self.query(&insert.rows);
        if let (Some((_, span)), Some(replaced)) = (&insert.or, self.names.replaced(insert)) {
            self.conflict_target(replaced.key, *span);
            self.clause("action", "update", *span);
            for (column, value) in replaced.set {
                let node = spanned(self.names.expr(value), value.span);
                self.push(Kind::Set, column, node);
            }
        } else if let Some((word, span)) = &insert.or {
            // OR IGNORE also swallows violations of CHECK and NOT NULL, which DO NOTHING does not.
            let alone = word.ends_with("ignore") && self.names.ignores_conflicts_alone(insert);
            self.clause("action", if alone { "nothing" } else { word }, *span);
            if let Some(key) = self.names.only_key(insert).filter(|_| alone) {
                self.conflict_target(key, *span);
            }
        }
        if let Some(conflict) = &insert.conflict {
            self.conflict(insert, conflict);
        }
    }

    /// What the clause about conflicts says of an item, in words.
    fn clause(&mut self, item: &str, words: &str, span: Span) {
        self.push(Kind::Conflict, item, Node::leaf(Head::Clause(words.to_owned()), span));
    }

    fn conflict_target(&mut self, columns: &[String], span: Span) {
        let mut columns = columns.to_vec();
        columns.sort();
        self.clause("target", &columns.join(", "), span);
    }

    fn conflict(&mut self, insert: &Insert, conflict: &Conflict) {
        let only = || self.names.only_key(insert);
        if let Some(target) = conflict.target.as_deref().or_else(only) {
            self.conflict_target(target, conflict.span);
        }
        if let Some(filter) = &conflict.target_filter {
            let node = self.names.expr(filter);
            self.push(Kind::Conflict, "target-where", node);
        }
        match &conflict.action {
            ConflictAction::Nothing => self.clause("action", "nothing", conflict.span),
            ConflictAction::Update { set, filter, .. } => {
                self.clause("action", "update", conflict.span);
                for assignment in set {
                    match self.names.proposed(insert, assignment) {
                        Some(node) => self.push(Kind::Set, assignment.column.clone(), node),
                        None => self.set(std::slice::from_ref(assignment)),
                    }
                }
                if let Some(filter) = filter {
                    let node = self.names.expr(filter);
                    self.push(Kind::Conflict, "where", node);
                }
            }
        }
    }
}
