//! Generated tables, as both dialects declare them.

use super::choices::Choices;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Number,
    Text,
    Flag,
    Real,
    Id,
    Time,
    Document,
}

/// A column that both tables have the same way.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) is_nullable: bool,
    /// Text that Postgres compares by bytes, as SQLite does.
    pub(super) is_bytewise: bool,
    /// A number of four bytes on Postgres.
    pub(super) is_narrow: bool,
    pub(super) is_unique: bool,
}

/// Two tables: `item`, and `part`, which belongs to an item.
#[derive(Debug, Clone)]
pub(super) struct Schema {
    pub(super) tables: [Table; 2],
    is_strict: bool,
    /// How SQLite holds times.
    pub(super) form: &'static str,
}

#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// The first is the key.
    pub(super) columns: Vec<Column>,
}

/// The forms in which SQLite holds times, the plainest first.
const FORMS: [&str; 4] = ["milliseconds", "seconds", "datetime", "iso"];

/// What the members of documents hold.
pub(super) const FIELDS: [(&str, Kind); 3] = [("size", Kind::Number), ("word", Kind::Text), ("on", Kind::Flag)];

/// The list in a document, of texts.
pub(super) const LIST: &str = "tags";

/// Numbers that a statement may count with: nothing that is added to them leaves four bytes.
pub(super) const RANGE: (i64, i64) = (-1000, 1000);

impl Schema {
    pub(super) fn new(choices: &mut Choices<'_>) -> Self {
        let names =
            ["id", "count", "size", "name", "note", "done", "kept", "rate", "mark", "made_at", "ended_at", "data"];
        let item = Self::table(choices, "item", &names);
        let names = ["part_id", "item_id", "place", "label", "used", "weight", "stamp", "used_at"];
        let mut part = Self::table(choices, "part", &names);
        part.columns[1].is_unique = false;
        let is_strict = choices.below(2) == 0;
        Self { tables: [item, part], is_strict, form: choices.one(&FORMS) }
    }

    fn table(choices: &mut Choices<'_>, name: &'static str, names: &[&'static str]) -> Table {
        let column = |(at, name): (usize, &&'static str)| {
            let kind = match *name {
                "name" | "note" | "label" => Kind::Text,
                "done" | "kept" | "used" => Kind::Flag,
                "rate" | "weight" => Kind::Real,
                "mark" | "stamp" => Kind::Id,
                "data" => Kind::Document,
                name if name.ends_with("_at") => Kind::Time,
                _ => Kind::Number,
            };
            let is_key = at == 0;
            Column {
                name,
                kind,
                is_nullable: !is_key && choices.below(2) == 1,
                is_bytewise: choices.below(2) == 0,
                is_narrow: !name.ends_with("id") && choices.rarely(3),
                is_unique: !is_key && matches!(kind, Kind::Number | Kind::Text) && choices.rarely(6),
            }
        };
        Table { name, columns: names.iter().enumerate().map(column).collect() }
    }

    /// What a user would declare of it in `diglot.toml`.
    pub(super) fn config(&self) -> String {
        let mut text = format!("pg_timezone = \"UTC\"\n\n[storage]\n\"*.*_at\" = \"{}\"\n\n[json]\n", self.form);
        for (field, kind) in FIELDS {
            let kind = match kind {
                Kind::Number => "i64",
                Kind::Flag => "bool",
                _ => "text",
            };
            text.push_str(&format!("\"item.data.{field}\" = \"{kind}\"\n"));
        }
        text.push_str(&format!("\"item.data.{LIST}\" = \"text[]\"\n\n[prove.ranges]\n"));
        let (least, most) = RANGE;
        for name in ["id", "item_id", "part_id", "count", "size", "place", "number", "numbers"] {
            text.push_str(&format!("\"*.{name}\" = [{least}, {most}]\n"));
        }
        for (name, most) in [("rate", 1000), ("weight", 1000), ("most", 3), ("skip", 3)] {
            text.push_str(&format!("\"*.{name}\" = [0, {most}]\n"));
        }
        text
    }

    pub(super) fn sqlite(&self) -> String {
        let strict = if self.is_strict { " STRICT" } else { "" };
        let declared = |column: &Column| match column.kind {
            Kind::Number => "INTEGER".to_owned(),
            Kind::Text => "TEXT".to_owned(),
            Kind::Flag => format!("INTEGER{{}} CHECK ({} IN (0, 1))", column.name),
            Kind::Real => "REAL".to_owned(),
            Kind::Id => format!("BLOB{{}} CHECK (length({}) = 16)", column.name),
            Kind::Time if self.form.ends_with("seconds") => "INTEGER".to_owned(),
            Kind::Time => "TEXT".to_owned(),
            Kind::Document => format!("TEXT{{}} CHECK (json_valid({}))", column.name),
        };
        self.text(&declared, strict)
    }

    pub(super) fn pg(&self) -> String {
        let declared = |column: &Column| {
            let text = match column.kind {
                Kind::Number if column.is_narrow => "integer",
                Kind::Number => "bigint",
                Kind::Text if column.is_bytewise => "text COLLATE \"C\"",
                Kind::Text => "text",
                Kind::Flag => "boolean",
                Kind::Real => "double precision",
                Kind::Id => "uuid",
                Kind::Time => "timestamptz",
                Kind::Document => "jsonb",
            };
            text.to_owned()
        };
        self.text(&declared, "")
    }

    fn text(&self, declared: &dyn Fn(&Column) -> String, behind: &str) -> String {
        let mut text = String::new();
        for table in &self.tables {
            let columns = table.columns.iter().enumerate().map(|(at, column)| {
                let null = if column.is_nullable { "" } else { " NOT NULL" };
                let unique = if column.is_unique { " UNIQUE" } else { "" };
                let key = if at == 0 { " PRIMARY KEY" } else { "" };
                let declared = declared(column);
                let declared = match declared.split_once("{}") {
                    Some((kind, check)) => format!("{kind}{null}{unique}{check}"),
                    None => format!("{declared}{null}{unique}"),
                };
                format!("{} {declared}{key}", column.name)
            });
            let columns: Vec<String> = columns.collect();
            text.push_str(&format!("CREATE TABLE {} (\n  {}\n){behind};\n", table.name, columns.join(",\n  ")));
        }
        text
    }
}
