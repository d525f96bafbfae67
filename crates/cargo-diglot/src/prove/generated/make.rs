//! Makes a statement from choices.

use super::choices::Choices;
use super::schema::{Column, Kind, Schema, Table};
use super::tree::{Aggregate, Comparison, Condition, Expr, Joining, Key, Name, Replacement, Statement};

/// How deep conditions and values go.
const DEPTH: usize = 3;

const TEXTS: [&str; 6] = ["a", "b", "", "B", "it's", "ab"];
const REALS: [f64; 4] = [1.5, 0.0, -2.25, 1000.0];

/// What can be said in a place: the columns that are in reach there.
pub(super) struct Maker<'m, 'n> {
    pub(super) schema: &'m Schema,
    pub(super) choices: &'m mut Choices<'n>,
    /// The tables in reach, with their aliases; a column of the second of a left join may be NULL.
    pub(super) reach: Vec<(&'static str, usize, bool)>,
}

pub(super) fn statement(schema: &Schema, choices: &mut Choices<'_>) -> Statement {
    let mut maker = Maker { schema, choices, reach: vec![("i", 0, false)] };
    match maker.choices.below(14) {
        0..=2 => maker.read(),
        3 | 4 => maker.count(),
        5 => Statement::Change { filter: maker.filter(), to: maker.assignments(), returns: maker.returned() },
        6 => Statement::Remove { filter: maker.filter(), returns: maker.returned() },
        7 | 8 => maker.add(),
        9 => maker.combined(),
        10 => maker.framed(),
        11 => maker.windowed(),
        12 => maker.first(),
        _ => maker.claim(),
    }
}

impl<'m> Maker<'m, '_> {
    pub(super) fn table(&self, at: usize) -> &'m Table {
        &self.schema.tables[at]
    }

    fn read(&mut self) -> Statement {
        let joining = self.choices.one(&[Joining::Nothing, Joining::Inner, Joining::Left]);
        if joining != Joining::Nothing {
            self.reach.push(("p", 1, joining == Joining::Left));
        }
        let filter = self.filter();
        let mut values = vec![self.column(Kind::Number)];
        for _ in 0..self.choices.below(3) {
            values.push(self.any_value());
        }
        let is_distinct = self.choices.rarely(5);
        let mut order = Vec::new();
        let count = if is_distinct { 0 } else { self.choices.below(3) };
        for _ in 0..count {
            order.push(self.key());
        }
        let keys: &[&str] = if joining == Joining::Nothing { &["i"] } else { &["i", "p"] };
        if !is_distinct {
            for alias in keys {
                let at = usize::from(*alias == "p");
                let may_miss = at == 1 && joining == Joining::Left;
                order.push(Key {
                    by: Expr::Column(Name { alias, column: self.table(at).columns[0].name }, Kind::Number),
                    is_falling: self.choices.rarely(3),
                    nulls_first: may_miss.then(|| self.choices.below(2) == 1),
                });
            }
        }
        let (mut limit, mut offset) = (None, None);
        if !is_distinct && self.choices.rarely(3) {
            let count = Expr::Number(1 + self.choices.below(3) as i64);
            limit = Some(if self.choices.below(2) == 0 { count } else { Expr::Parameter("most") });
            if self.choices.rarely(3) {
                let count = Expr::Number(1 + self.choices.below(2) as i64);
                offset = Some(if self.choices.below(2) == 0 { count } else { Expr::Parameter("skip") });
            }
        }
        Statement::Read { joining, filter, values, is_distinct, order, limit, offset }
    }

    fn count(&mut self) -> Statement {
        let filter = self.filter();
        let mut groups = Vec::new();
        for _ in 0..self.choices.below(3) {
            let kind = self.choices.one(&[Kind::Flag, Kind::Text, Kind::Number]);
            let column = self.column(kind);
            if !groups.contains(&column) {
                groups.push(column);
            }
        }
        let mut values = vec![Aggregate::Rows];
        for _ in 0..self.choices.below(3) {
            values.push(self.aggregate());
        }
        let having = (!groups.is_empty() && self.choices.rarely(3)).then(|| self.choices.below(3) as i64);
        Statement::Count { filter, groups, values, having }
    }

    fn aggregate(&mut self) -> Aggregate {
        match self.choices.below(6) {
            0 => Aggregate::RowsWhere(self.condition(1)),
            1 => Aggregate::Values(self.any_value()),
            2 => Aggregate::Unlike(self.column(Kind::Number)),
            3 => Aggregate::Least(self.column(Kind::Number)),
            4 => Aggregate::Greatest(self.column(Kind::Number)),
            _ => Aggregate::Sum(self.column(Kind::Number)),
        }
    }

    fn add(&mut self) -> Statement {
        let columns = &self.table(0).columns;
        let mut values = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            if at == 0 || !column.is_nullable || self.choices.below(2) == 1 {
                values.push((column.name, Expr::Parameter(column.name)));
            }
        }
        let mut conflict = Vec::new();
        for column in &columns[1..] {
            if !self.choices.rarely(4) {
                continue;
            }
            let is_proposed = values.iter().any(|(name, _)| *name == column.name) && self.choices.below(2) == 0;
            let becomes = if is_proposed {
                Replacement::Proposed
            } else {
                Replacement::Value(Expr::Column(Name { alias: "item", column: self.like(column).name }, column.kind))
            };
            conflict.push((column.name, becomes));
        }
        let only_if = (!conflict.is_empty() && self.choices.rarely(3)).then(|| {
            self.reach = vec![("item", 0, false)];
            let named: Vec<&'static str> = values.iter().map(|(name, _)| *name).collect();
            self.proposed(&named)
        });
        Statement::Add { values, conflict, only_if }
    }

    /// A column of the same kind that may stand in its place.
    pub(super) fn like(&mut self, column: &Column) -> &'m Column {
        let table = self.table(0);
        let fits =
            |other: &&Column| other.kind == column.kind && !other.is_nullable && other.is_narrow == column.is_narrow;
        let fitting: Vec<&Column> = table.columns.iter().filter(fits).collect();
        match fitting.is_empty() {
            true => table.columns.iter().find(|other| other.name == column.name).unwrap_or(&table.columns[0]),
            false => self.choices.one(&fitting),
        }
    }

    pub(super) fn assignments(&mut self) -> Vec<(&'static str, Expr)> {
        let mut to = Vec::new();
        for column in &self.table(0).columns[1..] {
            // Which of several rows has a value first is a matter of where the rows lie.
            let is_chosen = !column.is_unique && (self.choices.rarely(4) || (to.is_empty() && column.name == "kept"));
            if is_chosen {
                to.push((column.name, self.assigned(column)));
            }
        }
        to
    }

    fn assigned(&mut self, column: &Column) -> Expr {
        match self.choices.below(4) {
            0 | 2 if column.kind == Kind::Document => {
                let (field, kind) = self.choices.one(&super::schema::FIELDS);
                Expr::With(Name { alias: "i", column: column.name }, field, Box::new(self.literal(kind)))
            }
            0 => self.literal(column.kind),
            1 => Expr::Parameter(column.name),
            2 if column.kind == Kind::Number && !column.is_nullable => {
                let own = Expr::Column(Name { alias: "i", column: column.name }, column.kind);
                Expr::Plus(Box::new(own), 1 + self.choices.below(3) as i64)
            }
            _ => Expr::Column(Name { alias: "i", column: self.like(column).name }, column.kind),
        }
    }

    fn returned(&mut self) -> Vec<Expr> {
        let mut values = vec![Expr::Column(Name { alias: "i", column: "id" }, Kind::Number)];
        for _ in 0..self.choices.below(2) {
            values.push(self.any_value());
        }
        values
    }

    pub(super) fn filter(&mut self) -> Vec<Condition> {
        (0..self.choices.below(4)).map(|_| self.condition(DEPTH)).collect()
    }

    pub(super) fn key(&mut self) -> Key {
        let column = self.ordered();
        let (alias, at, may_miss) = self.reach[column.0];
        let of = &self.table(at).columns[column.1];
        let may_be_null = of.is_nullable || may_miss;
        Key {
            by: Expr::Column(Name { alias, column: of.name }, of.kind),
            is_falling: self.choices.below(2) == 1,
            nulls_first: may_be_null.then(|| self.choices.below(2) == 1),
        }
    }

    /// A column by which both engines order alike.
    pub(super) fn ordered(&mut self) -> (usize, usize) {
        let mut fitting = Vec::new();
        for (of, (_, at, _)) in self.reach.iter().enumerate() {
            for (number, column) in self.table(*at).columns.iter().enumerate() {
                if column.kind != Kind::Document && (column.kind != Kind::Text || column.is_bytewise) {
                    fitting.push((of, number));
                }
            }
        }
        self.choices.one(&fitting)
    }

    pub(super) fn column(&mut self, kind: Kind) -> Expr {
        let mut fitting = Vec::new();
        for (alias, at, _) in &self.reach {
            for column in self.table(*at).columns.iter().filter(|column| column.kind == kind) {
                fitting.push(Name { alias, column: column.name });
            }
        }
        Expr::Column(self.choices.one(&fitting), kind)
    }

    /// Whether two texts can be put in order: both are columns that Postgres compares by bytes, or one is and the other
    /// one is written out.
    pub(super) fn is_bytewise(&self, value: &Expr) -> bool {
        let Expr::Column(name, Kind::Text) = value else { return false };
        let tables = self.reach.iter().filter(|(alias, ..)| *alias == name.alias).map(|(_, at, _)| self.table(*at));
        tables.flat_map(|table| &table.columns).any(|column| column.name == name.column && column.is_bytewise)
    }

    pub(super) fn literal(&mut self, kind: Kind) -> Expr {
        match kind {
            Kind::Number => Expr::Number(self.choices.below(5) as i64 - 1),
            Kind::Text => Expr::Text(self.choices.one(&TEXTS)),
            Kind::Flag => Expr::Truth(self.choices.below(2) == 0),
            Kind::Real => Expr::Real(self.choices.one(&REALS)),
            Kind::Id => Expr::Parameter("mark"),
            Kind::Time => Expr::Parameter("since"),
            Kind::Document => Expr::Parameter("data"),
        }
    }

    pub(super) fn any_value(&mut self) -> Expr {
        let kinds = [Kind::Text, Kind::Number, Kind::Flag, Kind::Real, Kind::Id, Kind::Time];
        let kind = self.choices.one(&kinds);
        self.value(kind, DEPTH - 1)
    }

    /// A column, or more than that.
    pub(super) fn value(&mut self, kind: Kind, depth: usize) -> Expr {
        if depth == 0 || self.choices.below(3) == 0 {
            return self.column(kind);
        }
        // A flag of a document has no type of its own as a column of SQLite.
        if self.choices.rarely(5)
            && kind != Kind::Flag
            && let Some(field) = self.field(kind)
        {
            return field;
        }
        match kind {
            Kind::Number => {
                let own = Box::new(self.value(kind, depth - 1));
                match self.choices.below(6) {
                    0 => Expr::Or(own, Box::new(self.literal(kind))),
                    1 => Expr::Plus(own, 1 + self.choices.below(4) as i64),
                    2 => {
                        let own = if self.is_narrow(&own) { Box::new(Expr::Wide(own)) } else { own };
                        Expr::Times(own, 2 + self.choices.below(3) as i64)
                    }
                    3 => Expr::Negated(own),
                    4 => Expr::Unless(own, Box::new(self.literal(kind))),
                    _ => Expr::Length(Box::new(self.value(Kind::Text, depth - 1))),
                }
            }
            Kind::Text => {
                let own = Box::new(self.value(kind, depth - 1));
                match self.choices.below(6) {
                    0 => Expr::Or(own, Box::new(self.literal(kind))),
                    1 => Expr::Joined(own, Box::new(self.value(kind, depth - 1))),
                    2 => Expr::Part(own, 1 + self.choices.below(3) as i64, self.choices.below(4) as i64),
                    3 => Expr::Replaced(own, "a", self.choices.one(&TEXTS)),
                    4 => Expr::Unless(own, Box::new(self.literal(kind))),
                    _ => Expr::Choose(Box::new(self.condition(depth - 1)), own, Box::new(self.literal(kind))),
                }
            }
            Kind::Flag => match self.choices.below(3) {
                0 => Expr::Or(Box::new(self.value(kind, depth - 1)), Box::new(self.literal(kind))),
                _ => Expr::Whether(Box::new(self.condition(depth - 1))),
            },
            Kind::Time => Expr::Or(Box::new(self.column(kind)), Box::new(self.column(kind))),
            Kind::Real | Kind::Id | Kind::Document => self.column(kind),
        }
    }

    pub(super) fn condition(&mut self, depth: usize) -> Condition {
        let is_leaf = depth == 0 || self.choices.below(3) == 0;
        match self.choices.below(if is_leaf { 10 } else { 15 }) {
            0 => self.comparison(),
            1 => Condition::IsNull(self.any_column()),
            2 => Condition::Is(self.column(Kind::Flag)),
            3 => {
                let kind = self.choices.one(&[Kind::Text, Kind::Number]);
                let count = 1 + self.choices.below(3);
                Condition::Among(self.column(kind), (0..count).map(|_| self.literal(kind)).collect())
            }
            4 => {
                let kind = self.choices.one(&[Kind::Text, Kind::Number, Kind::Flag]);
                Condition::Same(self.column(kind), self.literal(kind))
            }
            5 => {
                let low = self.literal(Kind::Number);
                Condition::Between(self.column(Kind::Number), low, Expr::Number(3))
            }
            6 => {
                let kind = self.choices.one(&[Kind::Number, Kind::Text, Kind::Id, Kind::Flag]);
                let parameter = match kind {
                    Kind::Number => "number",
                    Kind::Text => "word",
                    Kind::Id => "mark",
                    _ => "done",
                };
                Condition::Compare(Comparison::Equal, self.column(kind), Expr::Parameter(parameter))
            }
            7 => self.listed(),
            8 => self.time(),
            9 => self.of_document(),
            10 => Condition::All((0..2).map(|_| self.condition(depth - 1)).collect()),
            11 => Condition::Any((0..2).map(|_| self.condition(depth - 1)).collect()),
            12 => Condition::Not(Box::new(self.condition(depth - 1))),
            13 if self.reach[..] == [("i", 0, false)] => {
                self.reach = vec![("q", 1, false)];
                let more = self.condition(0);
                self.reach = vec![("i", 0, false)];
                Condition::HasPart(Box::new(more))
            }
            _ => {
                let kind = self.choices.one(&[Kind::Number, Kind::Text, Kind::Flag]);
                let value = self.value(kind, depth - 1);
                Condition::Compare(Comparison::Equal, value, self.literal(kind))
            }
        }
    }

    pub(super) fn any_column(&mut self) -> Expr {
        let kind = self.choices.one(&[Kind::Text, Kind::Number, Kind::Flag, Kind::Time]);
        self.column(kind)
    }

    fn comparison(&mut self) -> Condition {
        let kind = self.choices.one(&[Kind::Number, Kind::Text, Kind::Real, Kind::Flag]);
        let (left, other) = (self.column(kind), self.column(kind));
        let right = if self.choices.below(2) == 1 && kind != Kind::Text { other } else { self.literal(kind) };
        let is_ordered = matches!(kind, Kind::Number | Kind::Real) || self.is_bytewise(&left);
        let all = [Comparison::Equal, Comparison::Unequal, Comparison::Less, Comparison::AtMost];
        let comparison = self.choices.one(if is_ordered { &all } else { &all[..2] });
        Condition::Compare(comparison, left, right)
    }
}
