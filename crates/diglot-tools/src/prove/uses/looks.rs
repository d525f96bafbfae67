//! How a page looks at what stands in a place: what it could tell apart there decides which values are tried.

use super::{DEPTH, Key, Reader, steps};
use diglot::infer::origin::{Deep, query_outputs};
use diglot::tree::{
    Body, ConflictAction, Expr, ExprKind, OrderKey, OutputColumn, Query, Rows, Select, SourceKind, Window,
};
use diglot::types::Base;
use diglot::value::Value;

/// A set of ways in which a place is looked at.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Looks(u16);

impl Looks {
    /// Nobody looks.
    pub(crate) const NONE: Self = Self(0);
    /// Held against another value for being the same.
    pub(crate) const EQUAL: Self = Self(1);
    /// Held against another value for being more or less, or sorted by.
    pub(crate) const ORDERED: Self = Self(2);
    /// Added, subtracted, multiplied.
    pub(crate) const SUMMED: Self = Self(4);
    /// Divided, or what divides.
    pub(crate) const DIVIDED: Self = Self(8);
    /// Rounded.
    pub(crate) const ROUNDED: Self = Self(16);
    /// Matched with a pattern, or the pattern.
    pub(crate) const MATCHED: Self = Self(32);
    /// Made small or capital.
    pub(crate) const CASED: Self = Self(64);
    /// Measured, cut, joined, searched.
    pub(crate) const MEASURED: Self = Self(128);
    /// Taken as another type.
    pub(crate) const CAST: Self = Self(256);
    /// Asked for NULL.
    pub(crate) const NULLED: Self = Self(512);
    /// A condition by itself.
    pub(crate) const TRUTH: Self = Self(1024);
    /// Taken apart or shifted as a time.
    pub(crate) const MOMENT: Self = Self(2048);
    /// Held against the clock.
    pub(crate) const CLOCK: Self = Self(4096);
    /// Taken apart as a document or a list.
    pub(crate) const OPENED: Self = Self(8192);
    /// Held against how many rows there are.
    pub(crate) const COUNTED: Self = Self(16384);

    /// Whether any of these ways is among them.
    pub(crate) fn any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }

    /// These ways without some.
    pub(crate) fn without(self, of: Self) -> Self {
        Self(self.0 & !of.0)
    }

    /// Whether nobody looks.
    pub(crate) fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl std::ops::BitOr for Looks {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for Looks {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl<'t> Reader<'t> {
    /// Learns how the page looks at its places.
    pub(super) fn looks(&mut self) {
        for part in &self.tree.parts {
            match &part.body {
                Body::Insert(insert) => {
                    if let Some(conflict) = &insert.conflict
                        && let ConflictAction::Update { set, .. } = &conflict.action
                    {
                        set.iter().for_each(|assignment| self.root(&assignment.value));
                    }
                }
                Body::Update(update) => update.set.iter().for_each(|assignment| self.root(&assignment.value)),
                Body::Query(_) | Body::Delete(_) => {}
            }
            part.queries().into_iter().for_each(|query| self.query(query));
        }
        self.tree.exprs().into_iter().for_each(|expr| self.look(expr));
        for source in self.tree.sources() {
            if let SourceKind::Function { args, .. } = &source.kind {
                args.first().into_iter().for_each(|list| self.mark(list, Looks::OPENED));
            }
        }
    }

    fn query(&mut self, query: &'t Query) {
        self.keys(&query.order);
        self.of_rows(&query.rows, false);
    }

    fn keys(&mut self, order: &'t [OrderKey]) {
        order.iter().for_each(|key| self.mark(&key.expr, Looks::ORDERED));
    }

    /// What a select asks for. Rows that are held against each other are looked at in every column.
    fn of_rows(&mut self, rows: &'t Rows, compared: bool) {
        match rows {
            Rows::Select(select) => self.select(select, compared),
            Rows::Set { op, all, left, right, .. } => {
                let compared = compared || *op != "union" || !all;
                self.of_rows(left, compared);
                self.of_rows(right, compared);
            }
            Rows::Query(query) => self.of_rows(&query.rows, compared),
            Rows::Values(..) => {}
        }
    }

    fn select(&mut self, select: &'t Select, compared: bool) {
        let mut mark = |exprs: &mut dyn Iterator<Item = &'t Expr>, look| exprs.for_each(|expr| self.mark(expr, look));
        mark(&mut select.group.iter(), Looks::EQUAL);
        if let Some((on, _)) = &select.distinct {
            mark(&mut on.iter(), Looks::EQUAL);
        }
        if compared || select.distinct.as_ref().is_some_and(|(on, _)| on.is_empty()) {
            mark(&mut select.columns.iter().map(|column: &OutputColumn| &column.expr), Looks::EQUAL);
        }
        let conditions = select.filter.iter().chain(&select.having);
        conditions
            .chain(select.from.iter().filter_map(|source| source.join.as_ref()?.on.as_ref()))
            .for_each(|it| self.truth(it));
    }

    /// A value that is computed rather than carried.
    fn root(&mut self, value: &'t Expr) {
        if let ExprKind::Case { branches, .. } = &value.kind {
            branches.iter().for_each(|(when, _)| self.truth(when));
        }
    }

    /// A condition: a place that stands there by itself is asked whether it is true.
    fn truth(&mut self, condition: &'t Expr) {
        match &condition.kind {
            ExprKind::Binary { op, left, right } if matches!(op.as_str(), "and" | "or") => {
                self.truth(left);
                self.truth(right);
            }
            ExprKind::Unary { op, expr } if op == "not" => self.truth(expr),
            ExprKind::Column { .. } | ExprKind::Param(_) | ExprKind::Cast { .. } => self.mark(condition, Looks::TRUTH),
            _ => {}
        }
    }

    fn look(&mut self, expr: &'t Expr) {
        match &expr.kind {
            ExprKind::Binary { op, .. } => {
                let look = match op.as_str() {
                    "=" | "<>" | "is" | "is not" | "is distinct from" | "is not distinct from" => Looks::EQUAL,
                    "<" | "<=" | ">" | ">=" if is_counted(expr) => Looks::ORDERED | Looks::MOMENT,
                    "<" | "<=" | ">" | ">=" => Looks::ORDERED,
                    "+" | "-" | "*" => Looks::SUMMED,
                    "/" | "%" => Looks::DIVIDED | Looks::SUMMED,
                    "||" => Looks::MEASURED,
                    "<@" | "@>" | "&&" | "?" | "?|" | "?&" => Looks::EQUAL | Looks::OPENED,
                    "->" | "->>" | "#>" | "#>>" => Looks::OPENED,
                    "and" | "or" => return self.truth(expr),
                    _ => Looks::SUMMED | Looks::MEASURED,
                };
                self.mark(expr, if counts(expr) { look | Looks::COUNTED } else { look });
            }
            ExprKind::Unary { op, expr: inner } if op == "not" => self.truth(inner),
            ExprKind::Unary { .. } => self.mark(expr, Looks::SUMMED),
            ExprKind::Between { .. } if is_counted(expr) => self.mark(expr, Looks::ORDERED | Looks::MOMENT),
            ExprKind::Between { .. } => self.mark(expr, Looks::ORDERED),
            ExprKind::InList { .. } | ExprKind::InQuery { .. } | ExprKind::Tuple(_) => self.mark(expr, Looks::EQUAL),
            ExprKind::Any { op, .. } => {
                self.mark(expr, if op == "=" || op == "<>" { Looks::EQUAL } else { Looks::ORDERED });
            }
            ExprKind::Is { what: "null", .. } => self.mark(expr, Looks::NULLED),
            ExprKind::Is { .. } => self.mark(expr, Looks::TRUTH),
            ExprKind::Like { op, .. } => {
                self.mark(expr, if *op == "ilike" { Looks::MATCHED | Looks::CASED } else { Looks::MATCHED });
            }
            ExprKind::Case { operand, branches, .. } => match operand {
                Some(_) => branches.iter().for_each(|(when, _)| self.mark(when, Looks::EQUAL)),
                None => branches.iter().for_each(|(when, _)| self.truth(when)),
            },
            ExprKind::Cast { expr: inner, base, .. }
                if base.is_none() || inner.base().is_some_and(|own| Some(own) != base.as_ref()) =>
            {
                self.mark(expr, Looks::CAST);
            }
            ExprKind::Collate { .. } => self.mark(expr, Looks::ORDERED | Looks::CASED),
            ExprKind::Call { name, args, distinct, order, filter, over, .. } => {
                self.keys(order);
                filter.iter().for_each(|filter| self.truth(filter));
                if let Some(window) = over {
                    let Window { partition, order, .. } = &**window;
                    partition.iter().for_each(|expr| self.mark(expr, Looks::EQUAL));
                    self.keys(order);
                }
                let look = if *distinct { called(name) | Looks::EQUAL } else { called(name) };
                for (at, arg) in args.iter().enumerate() {
                    // What stands in for NULL is not asked for it: a program gives a value there.
                    let stands_in = matches!(name.as_str(), "coalesce" | "ifnull") && at + 1 == args.len();
                    let is_given = stands_in && matches!(arg.bare().kind, ExprKind::Param(_));
                    self.mark(arg, if is_given { look.without(Looks::NULLED) } else { look });
                }
                self.clocked(expr, look);
            }
            _ => {}
        }
    }

    /// All places and literals of an expression stand together.
    fn mark(&mut self, expr: &'t Expr, look: Looks) {
        let mut found = Gathered::default();
        self.gather(expr, DEPTH, &mut found);
        let look = if found.clock { look | Looks::CLOCK } else { look };
        let is_time = look.any(Looks::MOMENT | Looks::CLOCK);
        for key in &found.amounts {
            self.looked(key, look.without(Looks::MOMENT | Looks::CLOCK) | Looks::SUMMED);
        }
        found.places.iter().for_each(|key| self.looked(key, look));
        // What shifts a time says nothing of how often it does.
        let amounts = found.amounts.iter().filter(|_| !is_time);
        for key in found.places.iter().chain(amounts) {
            self.uses.near.extend(found.literals.iter().map(|literal| (key.clone(), literal.clone())));
        }
    }

    fn looked(&mut self, key: &Key, look: Looks) {
        if let Key::Json(document, _) = key {
            *self.uses.looks.entry((**document).clone()).or_default() |= Looks::OPENED;
            self.uses.paths.insert(key.clone());
        }
        *self.uses.looks.entry(key.clone()).or_default() |= look;
    }

    /// A call that reads the clock beside a place.
    fn clocked(&mut self, expr: &'t Expr, look: Looks) {
        if look.any(Looks::MOMENT) {
            self.mark(expr, look);
        }
    }

    fn gather(&self, expr: &'t Expr, depth: usize, found: &mut Gathered) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let all = expr.exprs();
        let mut at = 0;
        while let Some(inner) = all.get(at).copied() {
            at += 1;
            let inside = inner.exprs().len().saturating_sub(1);
            if is_span(inner) {
                let mut own = Gathered::default();
                operands(inner).into_iter().for_each(|operand| self.gather(operand, depth, &mut own));
                found.amounts.extend(own.places.into_iter().chain(own.amounts));
                found.literals.extend(own.literals);
                at += inside;
                continue;
            }
            found.clock |= tells_time(inner);
            match &inner.kind {
                ExprKind::Column { .. } => match (self.key(inner, DEPTH), self.names.deep(inner)) {
                    (Some(key), _) => found.places.push(key),
                    (None, Deep::Expr(behind)) if !std::ptr::eq(behind, inner) => {
                        self.gather(behind, depth, found);
                    }
                    _ => {}
                },
                ExprKind::Param(name) => found.places.push(Key::Param(name.clone())),
                ExprKind::Scalar(query) | ExprKind::InQuery { query, .. } | ExprKind::Exists { query, .. } => {
                    if let ExprKind::InQuery { expr, .. } = &inner.kind {
                        self.gather(expr, depth, found);
                    }
                    if !matches!(inner.kind, ExprKind::Exists { .. })
                        && let Some(output) = query_outputs(&query.rows).first()
                    {
                        self.gather(&output.expr, depth, found);
                    }
                    at += inside;
                }
                ExprKind::Binary { op, .. } if matches!(op.as_str(), "->" | "->>" | "#>" | "#>>") => {
                    if let Some(key @ Key::Json(..)) = self.key(inner, DEPTH) {
                        found.places.push(key);
                        at += inside;
                    }
                }
                ExprKind::Call { name, args, .. } => {
                    if name.starts_with("json")
                        && args.get(1).and_then(steps).is_some()
                        && let Some(key @ Key::Json(..)) = self.key(inner, DEPTH)
                    {
                        found.places.push(key);
                        at += inside;
                    }
                }
                ExprKind::Opaque(_) => {}
                _ => {
                    found.literals.extend(self.literal(inner).filter(|_| !matches!(inner.kind, ExprKind::Cast { .. })))
                }
            }
        }
    }
}

/// What stands in an expression.
#[derive(Default)]
struct Gathered {
    places: Vec<Key>,
    /// Places that say how much of a unit there is: no times, though times are shifted by them.
    amounts: Vec<Key>,
    literals: Vec<Value>,
    clock: bool,
}

/// Whether an expression is so much of a unit of time: a number of days, hours or the seconds of these, as either engine
/// writes it. What is cut down to whole units and multiplied again is still a time.
fn is_span(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { name, .. } => name == "make_interval",
        ExprKind::Cast { base: Some(Base::Interval), expr, .. } => !matches!(expr.kind, ExprKind::Text(_)),
        ExprKind::Binary { op, left, right } if op == "*" => {
            let is_whole = |side: &Expr| matches!(&side.bare().kind, ExprKind::Binary { op, .. } if op == "/");
            (is_unit(left) || is_unit(right)) && !is_whole(left) && !is_whole(right)
        }
        ExprKind::Binary { op, right, .. } if op == "||" => {
            matches!(&right.kind, ExprKind::Text(text) if is_unit_word(text.trim()))
        }
        _ => false,
    }
}

/// One unit of time: so many seconds or milliseconds, or an interval.
fn is_unit(expr: &Expr) -> bool {
    let is_interval = expr.ty.as_ref().is_some_and(|ty| ty.base == Base::Interval);
    let is_of = |n: i64| UNITS.iter().any(|unit| n == *unit || n == unit * 1_000);
    let number = |text: &str| text.parse::<i64>().is_ok_and(is_of);
    is_interval || matches!(&expr.bare().kind, ExprKind::Number(text) if number(text))
}

/// A minute, an hour, a day and a week in seconds.
const UNITS: [i64; 4] = [60, 3_600, 86_400, 604_800];

fn is_unit_word(text: &str) -> bool {
    let words = ["second", "sec", "minute", "min", "hour", "day", "week", "month", "mon", "year"];
    words.contains(&text.trim_end_matches('s').to_lowercase().as_str())
}

/// What stands directly in an expression.
fn operands(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Binary { left, right, .. } => vec![&**left, &**right],
        ExprKind::Cast { expr, .. } => vec![&**expr],
        ExprKind::Call { args, .. } => args.iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether a time is made a number in an expression: what is held against it is one as well.
fn is_counted(expr: &Expr) -> bool {
    expr.exprs().into_iter().any(|inner| {
        let ExprKind::Call { name, args, .. } = &inner.kind else { return false };
        let is_word = |words: &[&str]| {
            args.first()
                .is_some_and(|first| matches!(&first.kind, ExprKind::Text(text) if words.contains(&text.as_str())))
        };
        match name.as_str() {
            "unixepoch" => true,
            "strftime" => is_word(&["%s"]),
            "extract" | "date_part" => is_word(&["epoch", "EPOCH"]),
            _ => false,
        }
    })
}

/// Whether the number of rows is a part of an expression.
fn counts(expr: &Expr) -> bool {
    expr.exprs().into_iter().any(|inner| matches!(&inner.kind, ExprKind::Call { name, .. } if name == "count"))
}

/// Whether an expression itself tells the time, as a call or by a word.
pub(crate) fn tells_time(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { name, args, .. } => is_clock(name, args),
        ExprKind::Opaque(text) => text.to_lowercase().starts_with("current_"),
        _ => false,
    }
}

/// Whether a call tells the time.
fn is_clock(name: &str, args: &[Expr]) -> bool {
    let is_now = |arg: &Expr| matches!(&arg.bare().kind, ExprKind::Text(text) if text.eq_ignore_ascii_case("now"));
    match name {
        "now"
        | "current_timestamp"
        | "current_date"
        | "current_time"
        | "clock_timestamp"
        | "localtimestamp"
        | "transaction_timestamp"
        | "statement_timestamp" => true,
        "datetime" | "date" | "time" | "unixepoch" | "julianday" => args.is_empty() || args.iter().any(is_now),
        "strftime" => args.len() == 1 || args.iter().any(is_now),
        _ => false,
    }
}

/// How a function looks at its arguments.
fn called(name: &str) -> Looks {
    match name {
        "max" | "min" | "greatest" | "least" | "first_value" | "last_value" | "lag" | "lead" => Looks::ORDERED,
        "sum" | "avg" | "total" | "make_interval" | "abs" | "sign" | "power" | "pow" | "sqrt" => Looks::SUMMED,
        "mod" => Looks::DIVIDED | Looks::SUMMED,
        "round" | "floor" | "ceil" | "ceiling" | "trunc" => Looks::ROUNDED | Looks::SUMMED,
        "lower" | "upper" | "initcap" => Looks::CASED | Looks::MEASURED,
        "coalesce" | "ifnull" | "count" => Looks::NULLED,
        "nullif" | "iif" => Looks::NULLED | Looks::EQUAL,
        "date" | "time" | "datetime" | "strftime" | "julianday" | "unixepoch" | "date_trunc" | "date_part"
        | "extract" | "to_char" | "age" | "to_timestamp" | "date_bin" | "timezone" | "now" => Looks::MOMENT,
        _ if name.starts_with("json")
            || name.starts_with("to_json")
            || name.starts_with("array")
            || name == "unnest" =>
        {
            Looks::OPENED
        }
        _ if name.starts_with("current_") => Looks::MOMENT,
        _ => Looks::MEASURED | Looks::SUMMED,
    }
}
