//! Between which whole numbers an expression lies, as far as literals, types, CHECKs, declared ranges and conditions tell.

use super::super::Context;
use crate::config::FILE;
use crate::tree::{Expr, ExprKind};
use crate::types::Base;

/// Bounds beyond this many bits are as good as none, so that no calculation with them leaves its own type.
const CALCULATED_BITS: u32 = 120;

/// No value of Postgres has a gigabyte, so that its length has fewer bits than its type.
const VALUE_BITS: u32 = 31;

/// The least and the greatest number. NULL is neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) struct Bounds {
    pub(in crate::rules) least: i128,
    pub(in crate::rules) most: i128,
}

impl Bounds {
    fn new(least: i128, most: i128) -> Self {
        Self { least, most }
    }

    fn of_bits(bits: u32) -> Self {
        Self::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    }

    /// What an integer type holds.
    pub(in crate::rules) fn of_type(base: &Base) -> Option<Self> {
        match base {
            Base::Int16 => Some(Self::of_bits(16)),
            Base::Int32 => Some(Self::of_bits(32)),
            Base::Int64 => Some(Self::of_bits(64)),
            _ => None,
        }
    }

    /// Whether all of it is inside of others.
    pub(in crate::rules) fn fit(self, outer: Self) -> bool {
        outer.least <= self.least && self.most <= outer.most
    }

    fn joined(self, other: Self) -> Self {
        Self::new(self.least.min(other.least), self.most.max(other.most))
    }

    fn narrowed(self, other: Self) -> Self {
        Self::new(self.least.max(other.least), self.most.min(other.most))
    }

    /// The ends of an operation that is monotonous in each operand.
    fn ends(self, other: Self, op: impl Fn(i128, i128) -> Option<i128>) -> Option<Self> {
        let pairs =
            [(self.least, other.least), (self.least, other.most), (self.most, other.least), (self.most, other.most)];
        let ends: Option<Vec<i128>> = pairs.into_iter().map(|(a, b)| op(a, b)).collect();
        let ends = ends?;
        Some(Self::new(*ends.iter().min()?, *ends.iter().max()?))
    }
}

impl Context<'_> {
    /// The bounds of an expression; none where it is no whole number, or nothing is known of it.
    pub(in crate::rules) fn bounds(&self, expr: &Expr) -> Option<Bounds> {
        self.bounds_where(expr, &[])
    }

    /// The same where conditions hold.
    pub(in crate::rules) fn bounds_where(&self, expr: &Expr, held: &[&Expr]) -> Option<Bounds> {
        let by_type = || self.by_type(expr);
        let found = match &expr.kind {
            ExprKind::Number(text) => text.parse::<i64>().ok().map(|n| Bounds::new(n.into(), n.into())),
            ExprKind::Column { .. } | ExprKind::Param(_) => {
                let own = self.declared_range(expr).or_else(by_type);
                held.iter()
                    .filter_map(|condition| self.asked_of(expr, condition))
                    .fold(own, |own, asked| Some(own?.narrowed(asked)))
            }
            ExprKind::Unary { op, expr: inner } => {
                let inner = self.bounds_where(inner, held)?;
                match op.as_str() {
                    "-" => Some(Bounds::new(-inner.most, -inner.least)),
                    "+" => Some(inner),
                    "~" => Some(Bounds::new(-inner.most - 1, -inner.least - 1)),
                    _ => None,
                }
            }
            ExprKind::Binary { op, left, right } => {
                self.of_operation(op, self.bounds_where(left, held), self.bounds_where(right, held))
            }
            ExprKind::Cast { expr: inner, base: Some(base), .. } if Bounds::of_type(base).is_some() => {
                self.bounds_where(inner, held)
            }
            ExprKind::Call { name, args, .. } => self.of_call(name, args, held),
            ExprKind::Case { operand: None, branches, otherwise } => {
                let mut denied: Vec<&Expr> = held.to_vec();
                let mut all = Vec::new();
                // NULL is no number.
                let is_number = |value: &&Expr| !matches!(value.kind, ExprKind::Null);
                for (when, then) in branches.iter().filter(|(_, then)| is_number(&then)) {
                    denied.extend(when.conjuncts());
                    all.push(self.bounds_where(then, &denied));
                    denied.truncate(held.len());
                }
                let last = otherwise.as_deref().filter(is_number);
                all.extend(last.map(|last| self.bounds_where(last, held)));
                all.into_iter().reduce(|a, b| Some(a?.joined(b?))).flatten()
            }
            _ => None,
        };
        found.filter(|own| own.fit(Bounds::of_bits(CALCULATED_BITS))).or_else(by_type)
    }

    /// What an expression's type holds, and of a column no more than its CHECKs let through.
    fn by_type(&self, expr: &Expr) -> Option<Bounds> {
        let own = self.holds(expr).and_then(Bounds::of_type)?;
        let Some((table, column)) = self.column(expr) else { return Some(own) };
        let checked = table.checks.iter().filter_map(|check| check.ranges.get(&column.name));
        let all = checked.fold(own, |own, (least, most)| own.narrowed(Bounds::new(*least, *most)));
        Some(if all.least <= all.most { all } else { own })
    }

    /// What `[prove.ranges]` says of a column or a parameter.
    fn declared_range(&self, expr: &Expr) -> Option<Bounds> {
        let (owner, name) = self.owned(expr)?;
        self.config.prove.range(owner, name).map(|(least, most)| Bounds::new(least.into(), most.into()))
    }

    /// The way out that says in the settings between which numbers the columns and parameters of an expression lie; none
    /// where it has none, or all of them are declared.
    pub(in crate::rules) fn range_help(&self, expr: &Expr, (least, most): (i64, i64)) -> Option<String> {
        let mut lines: Vec<String> = Vec::new();
        for inner in expr.exprs().into_iter().filter(|inner| self.declared_range(inner).is_none()) {
            let Some((owner, name)) = self.owned(inner) else { continue };
            let line = format!("`\"{owner}.{name}\" = [{least}, {most}]`");
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let all = lines.join(", ");
        let help = format!("or, where it is so, say in `{FILE}`, below `[prove.ranges]`, what it lies between: {all}");
        (!lines.is_empty()).then_some(help)
    }

    /// The table or the statement to which a column or a parameter belongs, and its name.
    fn owned<'e>(&'e self, expr: &'e Expr) -> Option<(&'e str, &'e str)> {
        match &expr.kind {
            ExprKind::Param(name) => Some((self.name(), name.as_str())),
            _ => self.column(expr).map(|(table, column)| (table.name.as_str(), column.name.as_str())),
        }
    }

    /// What a condition that holds says of a column or a parameter.
    fn asked_of(&self, expr: &Expr, condition: &Expr) -> Option<Bounds> {
        let whole = Bounds::of_bits(64);
        match &condition.kind {
            ExprKind::Binary { op, left, right } => {
                let (op, other) = if is_same(left, expr) {
                    (op.as_str(), right)
                } else if is_same(right, expr) {
                    let turned = [("<", ">"), ("<=", ">="), (">", "<"), (">=", "<="), ("=", "=")];
                    (turned.iter().find(|(word, _)| word == op)?.1, left)
                } else {
                    return None;
                };
                let other = self.bounds(other)?;
                match op {
                    "<" => Some(Bounds::new(whole.least, other.most - 1)),
                    "<=" => Some(Bounds::new(whole.least, other.most)),
                    ">" => Some(Bounds::new(other.least + 1, whole.most)),
                    ">=" => Some(Bounds::new(other.least, whole.most)),
                    "=" => Some(other),
                    _ => None,
                }
            }
            ExprKind::Between { expr: inner, low, high, negated: false } if is_same(inner, expr) => {
                Some(Bounds::new(self.bounds(low)?.least, self.bounds(high)?.most))
            }
            ExprKind::InList { expr: inner, list, negated: false } if is_same(inner, expr) => {
                list.iter().map(|item| self.bounds(item)).reduce(|a, b| Some(a?.joined(b?))).flatten()
            }
            _ => None,
        }
    }

    fn of_operation(&self, op: &str, left: Option<Bounds>, right: Option<Bounds>) -> Option<Bounds> {
        if op == "&" {
            // The bits of a number that is not negative bound what is left of any other one.
            let of_one = |side: Option<Bounds>| side.filter(|side| side.least >= 0).map(|side| side.most);
            let most = [of_one(left), of_one(right)].into_iter().flatten().min()?;
            return Some(Bounds::new(0, most));
        }
        if op == "|" || op == "#" {
            // Of two numbers that are not negative no bit is set that stands above those of the greater one.
            let both = left.zip(right).filter(|(left, right)| left.least >= 0 && right.least >= 0);
            let most = both.map(|(left, right)| left.most.max(right.most))?;
            return Some(Bounds::new(0, (1_i128 << (128 - most.leading_zeros())) - 1));
        }
        let right = right?;
        if op == "%" {
            let most = right.least.abs().max(right.most.abs()).checked_sub(1)?;
            let least = if left.is_some_and(|left| left.least >= 0) { 0 } else { -most };
            return Some(Bounds::new(least, most));
        }
        let left = left?;
        match op {
            "+" => left.ends(right, i128::checked_add),
            "-" => left.ends(right, i128::checked_sub),
            "*" => left.ends(right, i128::checked_mul),
            "/" if right.least > 0 => left.ends(right, i128::checked_div),
            "<<" if right.least >= 0 && right.most < 64 => left.ends(right, |a, b| a.checked_mul(1 << b)),
            ">>" if right.least >= 0 && right.most < 64 => left.ends(right, |a, b| Some(a >> b)),
            _ => None,
        }
    }

    fn of_call(&self, name: &str, args: &[Expr], held: &[&Expr]) -> Option<Bounds> {
        let all = || args.iter().map(|arg| self.bounds_where(arg, held)).collect::<Vec<_>>();
        match (name, args.len()) {
            ("least" | "greatest", 1..) | ("min" | "max", 2..) => {
                let all: Vec<Bounds> = all().into_iter().collect::<Option<_>>()?;
                let (least, most) = (all.iter().map(|one| one.least), all.iter().map(|one| one.most));
                match name {
                    "least" | "min" => Some(Bounds::new(least.min()?, most.min()?)),
                    _ => Some(Bounds::new(least.max()?, most.max()?)),
                }
            }
            ("coalesce" | "ifnull", 1..) => all().into_iter().reduce(|a, b| Some(a?.joined(b?))).flatten(),
            ("nullif", 2) => self.bounds_where(&args[0], held),
            ("abs", 1) => {
                let inner = self.bounds_where(&args[0], held)?;
                let least = if inner.least > 0 { inner.least } else { 0 };
                Some(Bounds::new(least, inner.least.abs().max(inner.most.abs())))
            }
            ("count" | "row_number", _) => Some(Bounds::new(0, Bounds::of_bits(64).most)),
            ("length" | "octet_length" | "json_array_length" | "jsonb_array_length", _) => {
                Some(Bounds::new(0, Bounds::of_bits(VALUE_BITS).most))
            }
            _ => None,
        }
    }
}

/// Whether two expressions are the same column of the same source, or the same parameter.
pub(in crate::rules) fn is_same(one: &Expr, other: &Expr) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Param(one), ExprKind::Param(other)) => one == other,
        (ExprKind::Column { source, column }, ExprKind::Column { source: other_source, column: other_column }) => {
            source == other_source && column == other_column
        }
        _ => false,
    }
}
