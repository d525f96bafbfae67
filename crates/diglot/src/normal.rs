//! Normal form: an expression of either dialect as a tree in which equal meanings look equal.
//!
//! Every equivalence here holds on both engines for all values, or under what the types already guarantee.
//! What only nearly holds is left alone, so that it shows up as a difference.

mod after;
mod asked_for_truth;
mod common_type;
mod elements;
mod equal;
mod gate;
mod grouped;
mod handed_over;
mod head;
mod ignored_conflict;
mod inner_in_effect;
mod json;
mod known;
mod membership;
mod negation;
mod no_limit;
mod no_offset;
mod node;
mod null_place;
mod occurrences;
mod one_of_each;
mod one_row;
mod ordered_rows;
mod picked_row;
mod proposed_row;
mod query;
pub(crate) mod replaced_row;
mod row_comparison;
mod stored;
mod tested_flag;
mod words;
mod write_lock;
mod written_document;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::config::Config;
use crate::dialect::{Both, Dialect};
use crate::operations::{self, Meaning, Sense};
use crate::schema::Schema;
use crate::source::Span;
use crate::tree::{
    Body, Conflict, ConflictAction, Expr, ExprKind, Insert, Part, Query, Source, SourceId, SourceKind, Statement,
};
use crate::types::Base;

use head::Column;
use stored::{Ctes, Stored};
use words::Element;

pub use crate::guard::gives_one;
pub(crate) use asked_for_truth::all_asked_for_truth;
pub use equal::ALL as EQUIVALENCES;
pub(crate) use equal::patterns;
pub(crate) use gate::asks;
pub(crate) use handed_over::Order;
pub(crate) use head::{Head, Place, Relation};
pub use inner_in_effect::drops_rows_without;
pub(crate) use inner_in_effect::effective_join;
pub(crate) use no_offset::offset;
pub(crate) use node::Node;
pub(crate) use words::{Form, Function, Op, Read, Target};
pub use write_lock::ends_with_write;
pub(crate) use write_lock::row_locks;

/// What a statement's names mean while it is brought into normal form.
pub(crate) struct Names<'t> {
    statement: &'t Statement,
    sources: BTreeMap<SourceId, &'t Source>,
    relations: BTreeMap<SourceId, Relation>,
    /// Columns of which a source shows what an earlier statement of the unit wrote.
    rewritten: BTreeMap<SourceId, after::Changed<'t>>,
    /// The inserts whose proposed rows sources show.
    proposing: BTreeMap<SourceId, &'t Insert>,
    /// Derived tables that aggregates look through.
    derived: BTreeMap<SourceId, &'t Query>,
    /// Columns behind which something else stands. They stand behind each other, so each is looked up once.
    columns: RefCell<BTreeMap<(SourceId, String), Node>>,
    /// What was found out of columns that show those of tables.
    stored: RefCell<BTreeMap<(SourceId, String), Option<Stored>>>,
    ctes: OnceCell<Ctes<'t>>,
    pair: &'t PairContext<'t>,
}

/// What a page must know of its pair.
pub(crate) struct PairContext<'t> {
    /// The schemas. That of Postgres knows which flags are booleans.
    pub(crate) schemas: Both<&'t Schema>,
    /// What the project declares of its columns.
    pub(crate) promised: &'t Promised<'t>,
    /// Parameters that either page declares to be JSON.
    pub(crate) documents: BTreeSet<String>,
    /// Patterns of plain ASCII that Postgres compares with ILIKE.
    pub(crate) ilike: BTreeSet<String>,
    /// Lists that hold ids on Postgres and that SQLite gets as their digits.
    pub(crate) digits: BTreeSet<String>,
    /// Parameters that are conditions on Postgres.
    pub(crate) flags: BTreeSet<String>,
    /// Parameters that either page declares nullable.
    pub(crate) nullable: BTreeSet<String>,
    /// Whether the SQLite page ends with a write, so that what it has read is still so.
    pub(crate) under_write_lock: bool,
    /// Whether either page takes responsibility for words that nothing is known of.
    pub(crate) takes_unknown: bool,
    /// In which order the SQLite page writes and reads tables.
    pub(crate) order: Order,
}

/// What the project says of a text in a document that is written in digits: a number for whoever casts it.
const DIGITS: &str = "digits";

/// What a project declares of its columns, which no schema says.
#[derive(Debug, Default)]
pub(crate) struct Promised<'t> {
    config: Option<&'t Config>,
    never_null: Option<&'t BTreeSet<(String, String)>>,
    utc: bool,
    helped: Cell<bool>,
    asked_for_utc: Cell<bool>,
}

impl<'t> Promised<'t> {
    /// What the configuration says, and the columns, by table, into which no program writes NULL.
    pub(crate) fn new(config: &'t Config, never_null: &'t BTreeSet<(String, String)>) -> Self {
        Self { config: Some(config), never_null: Some(never_null), utc: config.is_utc(), ..Self::default() }
    }

    /// The same as if the configuration said that every session of Postgres is in UTC.
    pub(crate) fn in_utc(config: &'t Config, never_null: &'t BTreeSet<(String, String)>) -> Self {
        Self { utc: true, ..Self::new(config, never_null) }
    }

    /// Whether it was asked, in vain, whether every session of Postgres is in UTC.
    pub(crate) fn asked_for_utc(&self) -> bool {
        self.asked_for_utc.get()
    }

    /// Whether a question was answered with something that is declared: without one, nothing would be different.
    pub(crate) fn helped(&self) -> bool {
        self.helped.get()
    }

    /// Whether every session of Postgres is in UTC.
    fn is_utc(&self) -> bool {
        self.helped.set(self.helped.get() || self.utc);
        self.asked_for_utc.set(self.asked_for_utc.get() || !self.utc);
        self.utc
    }

    /// What a member of a column's documents is.
    fn json_type(&self, table: &str, column: &str, path: &str) -> Option<&'t str> {
        let config = self.config?;
        let said = config.json_type(table, column, path).or_else(|| {
            let field = config.prove.field(table, column, path)?;
            Some(if field == "number" { "i64" } else { field }).filter(|field| *field != "object")
        })?;
        self.helped.set(true);
        Some(said)
    }

    /// What the arrays in a column are.
    pub(crate) fn json_list(&self, table: &str, column: &str) -> Option<&'t str> {
        let said = self.config?.json_list(table, column)?;
        self.helped.set(true);
        Some(said)
    }

    /// Whether a column's documents are objects.
    fn is_json_object(&self, table: &str, column: &str) -> bool {
        let says = |config: &Config| config.is_json_object(table, column) || config.prove.is_object(table, column);
        let said = self.config.is_some_and(says);
        self.helped.set(self.helped.get() || said);
        said
    }

    fn is_never_null(&self, table: &str, column: &str) -> bool {
        let is_it = |(of, name): &(String, String)| name == column && of == table;
        let declared = self.never_null.is_some_and(|columns| columns.iter().any(is_it));
        self.helped.set(self.helped.get() || declared);
        declared
    }
}

impl<'t> Names<'t> {
    /// Names every source of a statement by its relation; the second occurrence that is seen in one place gets `#2`.
    pub(crate) fn new(statement: &'t Statement, pair: &'t PairContext<'t>) -> Self {
        let mut relations = BTreeMap::new();
        let (mut rewritten, mut proposing) = (BTreeMap::new(), BTreeMap::new());
        for part in &statement.parts {
            for source in part.sources() {
                rewritten.insert(source.id, after::seen_by(statement, part, source));
            }
            relations.extend(occurrences::of(statement, part));
            if let (Body::Insert(insert), Some(target)) = (&part.body, part.target())
                && let Some(Conflict { action: ConflictAction::Update { excluded, .. }, .. }) = &insert.conflict
            {
                let proposed = Relation::first(format!("excluded {}", relation(statement, target)));
                relations.insert(*excluded, proposed);
                proposing.insert(*excluded, insert);
            }
        }
        let (sources, derived) = (statement.sources_by_id(), ordered_rows::of(statement));
        Self {
            statement,
            sources,
            relations,
            rewritten,
            proposing,
            derived,
            columns: RefCell::default(),
            stored: RefCell::default(),
            ctes: OnceCell::new(),
            pair,
        }
    }

    /// The relation that a source stands for.
    pub(crate) fn relation(&self, id: SourceId) -> Relation {
        self.relations.get(&id).cloned().unwrap_or_else(|| Relation::first("?"))
    }

    /// The page's dialect.
    fn dialect(&self) -> Dialect {
        self.statement.dialect
    }

    /// An expression in normal form.
    pub(crate) fn expr(&self, expr: &Expr) -> Node {
        let mut node = equal::settled(self, expr, self.plain(expr));
        match operations::sense(self.dialect(), expr, &self.pair.nullable) {
            Some(Sense::Unknown(_)) if self.pair.takes_unknown => {}
            Some(unknown @ Sense::Unknown(_)) => node.sense = Some(Box::new(unknown)),
            // An equivalence that put the word in a form of its own has said what it means.
            Some(Sense::Known(means)) if is_told_by_sense(expr, &node, &means) => {
                node.sense = Some(Box::new(Sense::Known(means)));
            }
            _ => {}
        }
        node
    }

    /// An expression as it is written, of parts in normal form.
    fn plain(&self, expr: &Expr) -> Node {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Param(name) => Node::leaf(Head::Param(name.clone()), span),
            ExprKind::Null => Node::leaf(Form::Null, span),
            ExprKind::Bool(value) => Node::number(if *value { "1" } else { "0" }, span),
            ExprKind::Number(text) => Node::number(text, span),
            ExprKind::Text(text) => Node::leaf(Head::Text(text.clone()), span),
            ExprKind::Blob(hex) => Node::leaf(Head::Blob(hex.clone()), span),
            ExprKind::Column { source, column } => self.column(*source, column, span),
            ExprKind::Unary { op, expr: inner } if op == "not" => negation::negated(self.expr(inner), span),
            ExprKind::Unary { op, expr: inner } if op == "+" => self.expr(inner),
            ExprKind::Unary { op, expr: inner } => match &inner.kind {
                ExprKind::Number(number) if op == "-" => Node::number(format!("-{number}"), span),
                _ => Node::list(Op::from(format!("unary {op}").as_str()), vec![self.expr(inner)], span),
            },
            ExprKind::Binary { op, left, right } => self.binary(op, left, right, span),
            ExprKind::Is { expr: inner, what, negated } => {
                let word = if *negated { format!("is not {what}") } else { format!("is {what}") };
                self.tested(Op::from(word.as_str()), inner, &json::as_text(self.expr(inner)), span)
            }
            ExprKind::Between { expr: inner, low, high, negated } => {
                let (value, low, high) = (self.expr(inner), self.expr(low), self.expr(high));
                if !value.is_small() {
                    let op = if *negated { Op::NotBetween } else { Op::Between };
                    return Node::list(op, vec![value, low, high], span);
                }
                if *negated {
                    let below = Node::list(Op::Less, vec![value.clone(), low], span);
                    let above = Node::list(Op::Less, vec![high, value], span);
                    return Node::set(Op::Or, vec![below, above], span);
                }
                let from = Node::list(Op::LessOrEqual, vec![low, value.clone()], span);
                let to = Node::list(Op::LessOrEqual, vec![value, high], span);
                Node::set(Op::And, vec![from, to], span)
            }
            ExprKind::InList { expr: inner, list, negated } => self.in_list(inner, list, *negated, span),
            ExprKind::InQuery { expr: inner, query, negated } => self.in_query(inner, query, *negated, span),
            ExprKind::Exists { query, negated } => {
                let mut node = self.query(&one_row::asked(query));
                // What an EXISTS selects means nothing.
                node.kids.retain(|kid| kid.head != Form::Columns);
                Node::list(if *negated { Op::NotExists } else { Op::Exists }, vec![node], span)
            }
            ExprKind::Scalar(query) => Node::list(Form::Scalar, vec![self.query(query)], span),
            ExprKind::Like { op, expr: inner, pattern, escape, negated } => {
                let head = Head::Like { op, negated: *negated, escape: escape.clone() };
                Node::list(head, vec![self.expr(inner), self.expr(pattern)], span)
            }
            ExprKind::Call { .. } => self.call(expr),
            ExprKind::Case { operand, branches, otherwise } => {
                let mut kids = Vec::new();
                let results: Vec<&Expr> = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).collect();
                let of = operand.as_deref();
                let mut operand = of.map(|operand| self.expr(operand));
                if let Some(large) = operand.take_if(|operand| !operand.is_small()) {
                    kids.push(Node::list(Form::CaseOperand, vec![large], span));
                }
                for (when, then) in branches {
                    let value = self.expr(when);
                    let condition = match (&operand, of) {
                        (Some(operand), Some(of)) => {
                            self.flag("=", (of, operand), (when, &value), when.span).unwrap_or_else(|| {
                                let (operand, value) = json::beside_text(operand.clone(), value);
                                let asked = Node::set(Op::Equals, vec![operand, value], when.span);
                                equal::asked_kind(&asked).unwrap_or(asked)
                            })
                        }
                        _ => asked_for_truth::asked_for_truth(value),
                    };
                    kids.push(Node::list(
                        Form::When,
                        vec![condition, self.beside(then, &results)],
                        when.span.to(then.span),
                    ));
                }
                kids.push(
                    otherwise.as_ref().map_or_else(|| Node::leaf(Form::Null, span), |e| self.beside(e, &results)),
                );
                Node::list(Form::Case, kids, span)
            }
            ExprKind::Cast { expr: inner, base, to } => self.cast(inner, base.as_ref(), to, span),
            ExprKind::Collate { expr: inner, collation } => match collation.trim_matches('"') {
                // Byte order: what SQLite does by itself and Postgres when asked.
                "C" | "c" | "binary" | "BINARY" => self.expr(inner),
                other => Node::list(Head::Collate(other.to_owned()), vec![self.expr(inner)], span),
            },
            ExprKind::Array(items) => Node::list(Form::Array, self.all(items), span),
            ExprKind::Tuple(items) => Node::list(Form::Row, self.all(items), span),
            ExprKind::Any { op, left, right, all } => self.any(op, left, right, *all, span),
            ExprKind::Opaque(text) => Node::leaf(Head::Opaque(text.clone()), span),
        }
    }

    fn all(&self, exprs: &[Expr]) -> Vec<Node> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn column(&self, source: SourceId, column: &str, span: Span) -> Node {
        let is_changed = self.rewritten.get(&source).is_some_and(|changed| changed.contains_key(column));
        let is_cte = self.sources.get(&source).is_some_and(|source| source.cte().is_some());
        if !(is_changed || is_cte || self.derived.contains_key(&source)) {
            return self.found_column(source, column, span);
        }
        let key = (source, column.to_owned());
        if let Some(known) = self.columns.borrow().get(&key) {
            return Node { span, ..known.clone() };
        }
        let node = self.found_column(source, column, span);
        self.columns.borrow_mut().insert(key, node.clone());
        node
    }

    fn found_column(&self, source: SourceId, column: &str, span: Span) -> Node {
        if let Some(value) = self.proposed_value(source, column) {
            return Node { span, ..self.expr(value) };
        }
        let of = self.sources.get(&source).copied();
        let behind = self.column_behind(source, column, span);
        if let Some(value) = behind.or_else(|| self.returned(of?, column)) {
            return Node { span, ..value.folded() };
        }
        if let Some(value) = of.and_then(|source| self.element(source, column, span)) {
            return value;
        }
        let written = self.rewritten.get(&source).and_then(|changed| self.written(changed, column));
        let stored = of.filter(|source| source.table().is_none()).and_then(|_| self.stored_column(source, column));
        let column = Column { relation: self.relation(source), name: column.to_owned(), written, stored };
        Node::leaf(Head::Column(Box::new(column)), span)
    }

    fn binary(&self, op: &str, left: &Expr, right: &Expr, span: Span) -> Node {
        if let Some(node) = json::binary(self, op, left, right, span) {
            return node;
        }
        let (l, r) = (self.expr(left), self.expr(right));
        match op {
            // What is left of one is the other value of a flag.
            "-" if self.is_flag(right) && matches!(&left.kind, ExprKind::Number(one) if one == "1") => {
                negation::negated(r, span)
            }
            "and" | "or" => {
                let op = Op::from(op);
                let mut kids = Vec::new();
                for kid in [l, r] {
                    if kid.head == op { kids.extend(kid.kids) } else { kids.push(kid) }
                }
                if op == Op::And && kids.len() > 1 {
                    kids.retain(|kid| !kid.head.is_number("1"));
                }
                if op == Op::Or {
                    kids = membership::alternatives(kids, span);
                }
                if kids.len() == 1 { kids.remove(0) } else { Node::set(op, kids, span) }
            }
            ">" => ordered(Op::Less, r, l, span),
            ">=" => ordered(Op::LessOrEqual, r, l, span),
            "<" | "<=" => ordered(Op::from(op), l, r, span),
            "=" | "<>" => {
                if let (ExprKind::Tuple(lefts), ExprKind::Tuple(rights)) = (&left.kind, &right.kind)
                    && lefts.len() == rights.len()
                {
                    return self.equal_rows(op, lefts, rights, span);
                }
                if let Some(node) = self.flag(op, (left, &l), (right, &r), span) {
                    return node;
                }
                if let ExprKind::Scalar(query) = &right.kind
                    && let Some((key, rows)) = self.picked_row(left, query)
                {
                    return Node::set(Op::from(op), vec![key, Node::list(Form::Scalar, vec![rows], right.span)], span);
                }
                let (l, r) = json::beside_text(l, r);
                Node::set(Op::from(op), vec![l, r], span)
            }
            "is not distinct from" | "is distinct from" => match self.tested_flag(op, (left, &l), (right, &r), span) {
                Some(node) => node,
                None => {
                    let (l, r) = json::beside_text(l, r);
                    Node::set(Op::from(op), vec![l, r], span)
                }
            },
            "||" if self.joins_documents(left, right) => Node::list(Op::JoinDocuments, vec![l, r], span),
            "+" | "*" => Node::set(Op::from(op), vec![l, r], span),
            _ => Node::list(Op::from(op), vec![l, r], span),
        }
    }

    /// Whether `||` merges documents, as Postgres does; SQLite joins their texts.
    fn joins_documents(&self, left: &Expr, right: &Expr) -> bool {
        let is_document = |expr: &Expr| expr.base() == Some(&Base::Json);
        self.statement.dialect == Dialect::Pg && (is_document(left) || is_document(right))
    }

    fn cast(&self, inner: &Expr, base: Option<&Base>, to: &str, span: Span) -> Node {
        let node = self.expr(inner);
        // A cast of a parameter or of NULL only tells Postgres its type.
        if matches!(inner.kind, ExprKind::Param(_) | ExprKind::Null) {
            return node;
        }
        if matches!(base, Some(Base::Enum(_))) {
            return node;
        }
        let from = inner.base();
        let target = base.map_or_else(|| Target::from(to), Target::of);
        if let Some(read) = json::cast(self, &node, &target, span) {
            return read;
        }
        let is_key = target == Target::Text && matches!(node.head, Head::Element { what: Element::Key, .. });
        if node.head == target || is_key {
            // Names of members are texts already, whatever SQLite knows of them.
            return node;
        }
        if target == Target::Int && self.is_flag(inner) {
            return node;
        }
        let real = matches!(from, Some(Base::Float64 | Base::Numeric));
        if target == Target::Int && real && !is_sum(&node) && self.statement.dialect == Dialect::Pg {
            // SQLite cuts off, Postgres rounds.
            return Node::list(Target::IntRounded, vec![node], span);
        }
        if target == Target::Text && from == Some(&Base::Bytes) && self.statement.dialect == Dialect::Sqlite {
            // SQLite takes the bytes for letters, Postgres writes their digits.
            return Node::list(Form::LettersOfBytes, vec![node], span);
        }
        let already_text = target == Target::Text && matches!(from, Some(Base::Text | Base::Enum(_)));
        let is_read = node.head.is_document() || matches!(node.head, Head::Read(..));
        let already = from.is_some_and(|from| Target::of(from) == target) && !is_read;
        if already_text || already || is_sum(&node) && target == Target::Int {
            return node;
        }
        Node::list(target, vec![node], span)
    }

    fn call(&self, expr: &Expr) -> Node {
        let ExprKind::Call { name, args, star, distinct, order, filter, over } = &expr.kind else {
            return Node::leaf(Head::Opaque("?".to_owned()), expr.span);
        };
        let order = self.order_of(name, args, order);
        if let Some(node) = json::call(self, name, args, order, expr.span) {
            return node;
        }
        let mut kids = match name.as_str() {
            "coalesce" | "ifnull" | "nullif" => {
                let all: Vec<&Expr> = args.iter().collect();
                args.iter().map(|arg| self.beside(arg, &all)).collect()
            }
            _ => self.all(args),
        };
        if let ("coalesce", Some(node)) = (name.as_str(), known::without_nulls(&kids)) {
            return Node { span: expr.span, ..node };
        }
        // One row before is what is looked at where no number is written.
        if let ("lag" | "lead", [_, Expr { kind: ExprKind::Number(by), .. }]) = (name.as_str(), args.as_slice())
            && by == "1"
        {
            kids.truncate(1);
        }
        let extreme = if kids.len() > 1 { self.extreme(name, args) } else { None };
        let set = extreme.is_some();
        let head = extreme.unwrap_or_else(|| match Function::from(name.as_str()) {
            function if *star => Head::CallOfRows(function),
            function if *distinct => Head::CallOfDistinct(function),
            function => Head::Call(function),
        });
        if !order.is_empty() {
            kids.push(self.order(order, expr.span));
        }
        if let Some(filter) = filter {
            let filtered = asked_for_truth::asked_for_truth(self.expr(filter));
            kids.push(Node::list(Form::Filter, vec![filtered], filter.span));
        }
        if let Some(window) = over {
            let partition = Node::list(Form::Partition, self.all(&window.partition), expr.span);
            // Functions that number rows, and those that look at others by number, know no frame.
            let has_frame = !["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead"]
                .contains(&name.as_str());
            let mut parts = vec![partition, self.order(&window.order, expr.span)];
            parts.extend(self.all(if has_frame { &window.bounds } else { &[] }));
            let frame = if has_frame { window.frame.clone() } else { String::new() };
            kids.push(Node::list(Head::Over(frame), parts, expr.span));
        }
        Node { head, kids, set, sense: None, span: expr.span }
    }
}

/// Whether nothing but the meaning of a word tells what an engine does with it: it is a function's name on both.
fn is_told_by_sense(expr: &Expr, node: &Node, means: &Meaning) -> bool {
    let is_contested = |function| operations::is_contested(function, means);
    matches!(expr.kind, ExprKind::Call { .. })
        && means.guard().is_none()
        && node.head.function().is_some_and(is_contested)
}

/// `less op more`, of values or of rows.
fn ordered(op: Op, less: Node, more: Node, span: Span) -> Node {
    row_comparison::by_columns(&op, &less, &more, span).unwrap_or_else(|| Node::list(op, vec![less, more], span))
}

fn relation(statement: &Statement, source: &Source) -> String {
    match &source.kind {
        SourceKind::Table(name) => name.clone(),
        SourceKind::Cte(name) => match writing_part(statement, name).and_then(Part::target) {
            Some(target) => relation(statement, target),
            None => format!("cte {name}"),
        },
        SourceKind::Rows(name) => format!("rows {name}"),
        SourceKind::Derived(_) => "subquery".to_owned(),
        SourceKind::Function { name, .. } if elements::is_list(name) => "list".to_owned(),
        SourceKind::Function { name, .. } => name.clone(),
        SourceKind::Excluded => "excluded".to_owned(),
    }
}

/// The CTE of that name, if it writes.
pub(crate) fn writing_part<'t>(statement: &'t Statement, name: &str) -> Option<&'t Part> {
    statement.parts.iter().find(|part| part.name.as_deref() == Some(name) && !matches!(part.body, Body::Query(_)))
}

/// A sum, or a sum with a substitute for NULL: its cast to an integer only undoes Postgres's widening.
fn is_sum(node: &Node) -> bool {
    match &node.head {
        Head::Call(Function::Sum) => true,
        Head::Call(Function::Coalesce) => {
            node.kids.first().is_some_and(is_sum) && node.kids[1..].iter().all(|kid| kid.kids.is_empty())
        }
        _ => false,
    }
}
