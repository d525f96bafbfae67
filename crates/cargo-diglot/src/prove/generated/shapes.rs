//! Makes what is more than a plain statement: lists, times, documents, frames, windows, claims.

use super::make::Maker;
use super::schema::{FIELDS, Kind};
use super::tree::{Combination, Comparison, Condition, Expr, Key, Name, Statement, Window};

/// The names of what a frame shows.
const SHOWN: [&str; 4] = ["v0", "v1", "v2", "v3"];

impl Maker<'_, '_> {
    /// Whether Postgres holds a column in four bytes.
    pub(super) fn is_narrow(&self, value: &Expr) -> bool {
        let Expr::Column(name, Kind::Number) = value else { return false };
        let tables = self.reach.iter().filter(|(alias, ..)| *alias == name.alias).map(|(_, at, _)| self.table(*at));
        tables.flat_map(|table| &table.columns).any(|column| column.name == name.column && column.is_narrow)
    }

    fn document(&self) -> Option<Name> {
        let is_there = self.reach.iter().find(|(alias, at, _)| *at == 0 && *alias != "item");
        is_there.map(|(alias, ..)| Name { alias, column: "data" })
    }

    /// A member of a document, where there is one of that kind.
    pub(super) fn field(&mut self, kind: Kind) -> Option<Expr> {
        let document = self.document()?;
        if kind == Kind::Number && self.choices.rarely(3) {
            return Some(Expr::Items(document));
        }
        let (field, kind) = *FIELDS.iter().find(|(_, of)| *of == kind)?;
        let field = Expr::Field(document, field, kind);
        // What is calculated from it has a type.
        Some(if kind == Kind::Number { Expr::Wide(Box::new(field)) } else { field })
    }

    pub(super) fn listed(&mut self) -> Condition {
        let is_text = self.choices.below(2) == 0;
        let value = self.column(if is_text { Kind::Text } else { Kind::Number });
        // A list of numbers has eight bytes for each.
        let value = if self.is_narrow(&value) { Expr::Wide(Box::new(value)) } else { value };
        Condition::Listed(value, if is_text { "words" } else { "numbers" })
    }

    pub(super) fn time(&mut self) -> Condition {
        let comparison =
            self.choices.one(&[Comparison::Less, Comparison::AtMost, Comparison::Equal, Comparison::Unequal]);
        let value = self.column(Kind::Time);
        match self.choices.below(4) {
            0 => Condition::Compare(comparison, value, Expr::Parameter("since")),
            1 => Condition::Compare(comparison, value, self.column(Kind::Time)),
            // A clock of SQLite that counts milliseconds is cut to seconds.
            2 if self.schema.form != "milliseconds" => {
                Condition::Compare(Comparison::Less, value, Expr::Ago(1 + self.choices.below(3) as i64))
            }
            _ => Condition::IsNull(value),
        }
    }

    pub(super) fn of_document(&mut self) -> Condition {
        let Some(document) = self.document() else { return self.listed() };
        let kind = self.choices.one(&[Kind::Text, Kind::Number, Kind::Id, Kind::Flag]);
        if kind == Kind::Flag {
            return Condition::Is(Expr::Field(document, "on", kind));
        }
        let field = self.field(kind).map(|field| match field {
            Expr::Wide(field) => *field,
            field => field,
        });
        let Some(field) = field else {
            return Condition::HasItem(document, self.choices.one(&["a", "b", ""]));
        };
        match self.choices.below(3) {
            0 => Condition::IsNull(field),
            _ => Condition::Compare(Comparison::Equal, field, self.literal(kind)),
        }
    }

    /// A condition of a row that is there and the one that was to be added.
    pub(super) fn proposed(&mut self, named: &[&'static str]) -> Condition {
        let columns = &self.table(0).columns;
        let fits = |name: &&&'static str| {
            columns.iter().any(|c| c.name == **name && matches!(c.kind, Kind::Number | Kind::Real | Kind::Flag))
        };
        let fitting: Vec<&'static str> = named.iter().filter(fits).copied().collect();
        if fitting.is_empty() {
            return self.condition(0);
        }
        let name = self.choices.one(&fitting);
        let kind = columns.iter().find(|column| column.name == name).map_or(Kind::Number, |column| column.kind);
        let own = Expr::Column(Name { alias: "item", column: name }, kind);
        match (self.choices.below(3), kind) {
            (0, Kind::Number | Kind::Real) => Condition::Compare(Comparison::Less, own, Expr::Proposed(name, kind)),
            (1, _) => Condition::Same(own, Expr::Proposed(name, kind)),
            _ => Condition::Compare(Comparison::Unequal, own, Expr::Proposed(name, kind)),
        }
    }

    fn own_key(&mut self, alias: &'static str, column: &'static str) -> Key {
        let by = Expr::Column(Name { alias, column }, Kind::Number);
        Key { by, is_falling: self.choices.rarely(3), nulls_first: None }
    }

    /// An order by one column, mostly, and the key.
    fn order(&mut self, alias: &'static str, key: &'static str) -> Vec<Key> {
        let mut order = Vec::new();
        if self.choices.below(3) > 0 {
            order.push(self.key());
        }
        order.push(self.own_key(alias, key));
        order
    }

    pub(super) fn combined(&mut self) -> Statement {
        let all = [Combination::Union, Combination::All, Combination::Common, Combination::Without];
        let combination = self.choices.one(&all);
        let mut values = vec![self.column(Kind::Number)];
        for _ in 0..self.choices.below(2) {
            values.push(self.any_column());
        }
        let filters = [self.filter(), self.filter()];
        Statement::Combined { combination, values, filters }
    }

    pub(super) fn framed(&mut self) -> Statement {
        let inner = self.filter();
        let mut values = vec![Expr::Column(Name { alias: "i", column: "id" }, Kind::Number)];
        let mut kinds = vec![Kind::Number];
        for _ in 0..self.choices.below(3) {
            let kind = self.choices.one(&[Kind::Text, Kind::Number, Kind::Flag]);
            values.push(self.value(kind, 2));
            kinds.push(kind);
        }
        let mut outer = Vec::new();
        for (column, kind) in SHOWN.into_iter().zip(kinds) {
            let shown = Expr::Column(Name { alias: "f", column }, kind);
            match self.choices.below(4) {
                0 => outer.push(Condition::Compare(Comparison::Unequal, shown, self.literal(kind))),
                1 => outer.push(Condition::IsNull(shown)),
                _ => {}
            }
        }
        Statement::Framed { inner, values, outer }
    }

    pub(super) fn windowed(&mut self) -> Statement {
        let filter = self.filter();
        let function = match self.choices.below(5) {
            0 => Window::Number,
            1 => Window::Rank,
            2 => Window::Before(self.any_column()),
            3 => Window::Sum(self.column(Kind::Number)),
            _ => Window::Rows,
        };
        let partition = (self.choices.below(2) == 1).then(|| self.any_column());
        Statement::Windowed { filter, function, partition, order: self.order("i", "id") }
    }

    pub(super) fn first(&mut self) -> Statement {
        self.reach = vec![("p", 1, false)];
        let filter = self.filter();
        Statement::First { filter, order: self.order("p", "part_id") }
    }

    pub(super) fn claim(&mut self) -> Statement {
        let filter = self.filter();
        Statement::Claim {
            filter,
            order: self.order("i", "id"),
            limit: 1 + self.choices.below(3) as i64,
            to: self.assignments(),
            passes_over: self.choices.below(2) == 1,
        }
    }
}
