//! Spells what is more than a plain statement.

use super::schema::Kind;
use super::spell::Speller;
use super::tree::{Combination, Condition, Expr, Key, Name, Statement, Window};

impl Speller<'_, '_> {
    /// A statement that is more than a plain one.
    pub(super) fn shape(&mut self, statement: &Statement) -> String {
        match statement {
            Statement::Combined { combination, values, filters } => self.combined(*combination, values, filters),
            Statement::Framed { inner, values, outer } => self.framed(inner, values, outer),
            Statement::Windowed { filter, function, partition, order } => {
                self.windowed(filter, function, partition.as_ref(), order)
            }
            Statement::First { filter, order } => self.first(filter, order),
            Statement::Claim { filter, order, limit, to, passes_over } => {
                let set: Vec<String> =
                    to.iter().map(|(name, value)| format!("{name} = {}", self.value(value))).collect();
                let locked = self.filter(filter).replace("i.", "l.");
                let order = self.order(order).replace("i.", "l.");
                let lock = match (self.is_pg(), passes_over) {
                    (false, _) => "",
                    (true, false) => " FOR UPDATE",
                    (true, true) => " FOR UPDATE SKIP LOCKED",
                };
                let id = if self.is_pg() { "i.id" } else { "item.id" };
                let chosen = format!("SELECT l.id FROM item AS l{locked}{order} LIMIT {limit}{lock}");
                let set = set.join(", ");
                // Postgres may run a subquery that locks once for each row: `limited-subquery`.
                format!(
                    "WITH chosen AS ({chosen}) UPDATE item AS i SET {set} WHERE i.id IN (SELECT c.id FROM chosen AS c) \
                     RETURNING {id} AS v0"
                )
            }
            _ => String::new(),
        }
    }

    fn combined(&mut self, combination: Combination, values: &[Expr], filters: &[Vec<Condition>; 2]) -> String {
        let sides: Vec<String> = filters
            .iter()
            .map(|filter| {
                let named = self.named(values);
                format!("SELECT {named} FROM item AS i{}", self.filter(filter))
            })
            .collect();
        let word = match combination {
            Combination::Union => "UNION",
            Combination::All => "UNION ALL",
            Combination::Common => "INTERSECT",
            Combination::Without => "EXCEPT",
        };
        let order = self.choices.one(&[" ORDER BY v0 NULLS FIRST", " ORDER BY 1 NULLS FIRST"]);
        format!("{} {word} {}{order}", sides[0], sides[1])
    }

    fn framed(&mut self, inner: &[Condition], values: &[Expr], outer: &[Condition]) -> String {
        let named = self.named(values);
        let query = format!("SELECT {named} FROM item AS i{}", self.filter(inner));
        let shown: Vec<String> = (0..values.len()).map(|at| format!("f.v{at} AS v{at}")).collect();
        let (shown, filter) = (shown.join(", "), self.filter(outer));
        format!("SELECT {shown} FROM ({query}) AS f{filter}")
    }

    fn windowed(&mut self, filter: &[Condition], function: &Window, partition: Option<&Expr>, order: &[Key]) -> String {
        let call = match function {
            Window::Number => "row_number()".to_owned(),
            Window::Rank => "rank()".to_owned(),
            Window::Before(value) => match self.way(2) {
                0 => format!("lag({})", self.value(value)),
                _ => format!("lag({}, 1)", self.value(value)),
            },
            Window::Sum(value) => format!("sum({})", self.value(value)),
            Window::Rows => "count(*)".to_owned(),
        };
        let partition = partition.map(|value| format!("PARTITION BY {}", self.value(value))).unwrap_or_default();
        let window = format!("{partition}{}", self.order(order));
        let window = window.trim();
        let (over, behind) = match self.way(2) {
            0 => (format!("({window})"), String::new()),
            _ => ("w".to_owned(), format!(" WINDOW w AS ({window})")),
        };
        let value = format!("{call} OVER {over}");
        let is_sum = matches!(function, Window::Sum(_)) && self.is_pg();
        let value = if is_sum { format!("CAST({value} AS bigint)") } else { value };
        format!("SELECT i.id AS v0, {value} AS v1 FROM item AS i{}{behind}", self.filter(filter))
    }

    fn first(&mut self, filter: &[Condition], order: &[Key]) -> String {
        let (filter, order) = (self.filter(filter), self.order(order));
        let is_nullable = self.schema.tables[1].columns[1].is_nullable;
        let nulls = if is_nullable { " NULLS LAST" } else { "" };
        format!(
            "SELECT r.item_id AS v0, r.part_id AS v1 FROM (SELECT p.item_id, p.part_id, row_number() OVER (PARTITION BY \
             p.item_id{order}) AS place FROM part AS p{filter}) AS r WHERE r.place = 1 ORDER BY r.item_id{nulls}"
        )
    }

    /// The bounds of how many rows come.
    pub(super) fn bounds(&mut self, limit: Option<&Expr>, offset: Option<&Expr>) -> String {
        let Some(limit) = limit else { return String::new() };
        let limit = self.value(limit);
        let Some(offset) = offset else { return format!(" LIMIT {limit}") };
        let offset = self.value(offset);
        match (self.is_pg(), self.way(2)) {
            (false, 1) => format!(" LIMIT {offset}, {limit}"),
            (true, 1) => format!(" OFFSET {offset} LIMIT {limit}"),
            _ => format!(" LIMIT {limit} OFFSET {offset}"),
        }
    }

    pub(super) fn listed(&mut self, value: &Expr, list: &str) -> String {
        let value = self.value(value);
        // Postgres cannot tell which unnest() is meant without a type.
        let typed = format!("CAST(:{list} AS {}[])", if list == "words" { "text" } else { "bigint" });
        match (self.is_pg(), self.way(4)) {
            (false, 0 | 2) => format!("{value} IN (SELECT value FROM json_each(:{list}))"),
            (false, _) => format!("{value} IN (SELECT l.value FROM json_each(:{list}) AS l)"),
            (true, 0) => format!("{value} = ANY (:{list})"),
            (true, 1) => format!("({value} = ANY (:{list}))"),
            (true, 2) => format!("{value} IN (SELECT unnest({typed}))"),
            (true, _) => format!("{value} = ANY (SELECT u.one FROM unnest({typed}) AS u(one))"),
        }
    }

    pub(super) fn has_item(&mut self, Name { alias, column }: &Name, item: &str) -> String {
        let list = super::schema::LIST;
        match (self.is_pg(), self.way(2)) {
            (false, 0) => {
                format!("EXISTS (SELECT 1 FROM json_each({alias}.{column}, '$.{list}') AS e WHERE e.value = '{item}')")
            }
            (false, _) => {
                format!("EXISTS (SELECT 1 FROM json_each({alias}.{column} -> '{list}') AS e WHERE e.value = '{item}')")
            }
            (true, 0) => format!(
                "EXISTS (SELECT 1 FROM jsonb_array_elements_text({alias}.{column} -> '{list}') AS e(value) WHERE \
                 e.value = '{item}')"
            ),
            (true, _) => format!(
                "EXISTS (SELECT 1 FROM jsonb_array_elements_text({alias}.{column} -> '{list}') AS e WHERE e = '{item}')"
            ),
        }
    }

    pub(super) fn field(&mut self, Name { alias, column }: &Name, field: &str, kind: Kind) -> String {
        let text = match (self.is_pg(), self.way(3)) {
            (_, 0) => format!("({alias}.{column} ->> '{field}')"),
            (false, 1) => format!("({alias}.{column} ->> '$.{field}')"),
            (false, _) => format!("json_extract({alias}.{column}, '$.{field}')"),
            (true, 1) => format!("({alias}.{column} #>> '{{{field}}}')"),
            (true, _) => format!("jsonb_extract_path_text({alias}.{column}, '{field}')"),
        };
        match (self.is_pg(), kind) {
            (true, Kind::Number) => match self.way(2) {
                0 => format!("CAST({text} AS bigint)"),
                _ => format!("{text}::bigint"),
            },
            (true, Kind::Flag) => format!("CAST({text} AS boolean)"),
            _ => text,
        }
    }

    /// A flag of a document that is set.
    pub(super) fn flag(&mut self, name: &Name, field: &str) -> String {
        let value = self.field(name, field, Kind::Flag);
        match (self.is_pg(), self.way(3)) {
            (false, 1) => format!("{value} = true"),
            (false, _) => format!("{value} = 1"),
            (true, 0) => format!("{value} = true"),
            (true, 1) => format!("({}.{} ->> '{field}') = 'true'", name.alias, name.column),
            (true, _) => value,
        }
    }

    pub(super) fn items(&mut self, Name { alias, column }: &Name) -> String {
        let list = super::schema::LIST;
        match (self.is_pg(), self.way(2)) {
            (true, _) => format!("jsonb_array_length({alias}.{column} -> '{list}')"),
            (false, 0) => format!("json_array_length({alias}.{column}, '$.{list}')"),
            (false, _) => format!("json_array_length({alias}.{column} -> '{list}')"),
        }
    }

    pub(super) fn with_field(&mut self, Name { alias, column }: &Name, field: &str, value: &Expr) -> String {
        let as_document = match value {
            Expr::Number(number) => number.to_string(),
            Expr::Truth(truth) => truth.to_string(),
            Expr::Text(text) => format!("\"{}\"", text.replace('\'', "''")),
            _ => "null".to_owned(),
        };
        if self.is_pg() {
            // Of what a document may hold, a literal is written as one too.
            let is_literal = matches!(value, Expr::Number(_) | Expr::Truth(_) | Expr::Text(_));
            if is_literal && self.way(2) == 1 {
                return format!("jsonb_set({alias}.{column}, '{{{field}}}', '{as_document}')");
            }
            let value = match value {
                Expr::Number(_) => format!("CAST({as_document} AS bigint)"),
                Expr::Truth(_) => as_document,
                value => format!("CAST({} AS text)", self.value(value)),
            };
            return format!("jsonb_set({alias}.{column}, '{{{field}}}', to_jsonb({value}))");
        }
        let value = match value {
            Expr::Truth(_) => format!("json('{as_document}')"),
            value => self.value(value),
        };
        format!("json_set({alias}.{column}, '$.{field}', {value})")
    }

    /// A moment before now, as SQLite holds the times that it is compared with.
    pub(super) fn ago(&mut self, hours: i64) -> String {
        if self.is_pg() {
            return match self.way(4) {
                0 => format!("now() - interval '{hours} hours'"),
                1 => format!("now() - make_interval(hours => {hours})"),
                2 => format!("now() - {hours} * interval '1 hour'"),
                _ => format!("now() - CAST('{hours} hours' AS interval)"),
            };
        }
        match self.schema.form {
            "seconds" => format!("unixepoch('now', '-{hours} hours')"),
            "datetime" => format!("datetime('now', '-{hours} hours')"),
            _ => format!("strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-{hours} hours')"),
        }
    }
}
