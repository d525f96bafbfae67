//! Parameters and columns that are one value together: the keys of the settings.

use std::collections::BTreeMap;

use super::origin::Origin;
use super::{PageOf, Param, ResultColumn, Signature, columns, may_be, walk};
use crate::config::{Columns, Config, FILE, Key};
use crate::diagnostic::Diagnostic;
use crate::dialect::{Both, Dialect};
use crate::names::nearest;
use crate::rule;
use crate::schema::{Schema, Table};
use crate::source::{Sources, Span};
use crate::types::Base;

/// What both databases hold in a column, and the Rust type that stands for it.
type Held = (Base, Option<String>);

/// What a value of a statement may be a field of: it is always there, it is never NULL, and it is one of a column.
struct Value<'a> {
    name: &'a str,
    held: Held,
    origins: Vec<Origin<'a>>,
}

impl Value<'_> {
    /// Whether it is that field of a key.
    fn is(&self, field: &Field<'_>) -> bool {
        let of_it = |origin: &Origin<'_>| field.columns.has(origin.table, origin.column);
        self.name == field.name && self.held == field.held && self.origins.iter().any(of_it)
    }
}

/// The keys of the settings, with what both databases hold in their fields.
pub(crate) struct Keys<'a> {
    sources: &'a Sources,
    /// Those with most fields first.
    keys: Vec<(&'a str, Vec<Field<'a>>)>,
}

/// A field of a key.
struct Field<'a> {
    name: &'a str,
    columns: &'a Columns,
    held: Held,
}

impl<'a> Keys<'a> {
    /// The keys of which every field is a column of the schemas.
    pub(crate) fn of(config: &'a Config, sources: &'a Sources, schemas: &Both<Schema>) -> Self {
        let field = |(name, columns): (&'a String, &'a Columns)| {
            Some(Field { name, columns, held: held(config, schemas, columns)? })
        };
        let keys = config.longest_keys_first().into_iter();
        let keys =
            keys.filter_map(|(name, key)| Some((name, key.fields.iter().map(field).collect::<Option<Vec<_>>>()?)));
        Self { sources, keys: keys.collect() }
    }

    /// Notes at parameters, at fields of rows and at columns of the result to which key they belong. It belongs to one if
    /// all of its fields are there.
    pub(crate) fn settle<'p>(
        &self,
        page: impl Fn(Dialect) -> Option<PageOf<'p>>,
        signature: &mut Signature,
    ) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if !self.may_be_in(signature) {
            return found;
        }
        let pages: Vec<PageOf<'p>> = Dialect::ALL.into_iter().filter_map(page).collect();
        let evidence: Vec<_> = pages.iter().map(|page| walk::evidence(page.tree)).collect();
        let of_param = |name: &str| {
            let met = evidence.iter().flat_map(|page| page.of(name));
            met.filter_map(|met| met.hint.origin).collect()
        };
        let of_field = |name: &str| {
            let met = evidence.iter().flat_map(|page| page.of_field(name));
            met.filter_map(|met| met.hint.origin).collect()
        };
        let mut of_column: BTreeMap<String, Vec<Origin<'_>>> = BTreeMap::new();
        for (name, origins) in pages.iter().flat_map(|page| columns::origins(page.tree)) {
            of_column.entry(name).or_default().extend(origins);
        }
        let params = self.belonging(signature.params.iter().map(|param| as_value(param, &of_param)).collect());
        let rows = signature.rows.iter().flat_map(|rows| &rows.fields);
        let rows = self.belonging(rows.map(|field| as_value(field, &of_field)).collect());
        let given = signature.columns.iter().map(|column| {
            let origins = of_column.remove(&column.name)?;
            let held = (column.ty.base.clone(), column.rust.clone());
            (!column.ty.nullable).then_some(Value { name: &column.name, held, origins })
        });
        let columns = self.belonging(given.collect());
        let fields = signature.rows.iter_mut().flat_map(|rows| &mut rows.fields);
        signature.params.iter_mut().zip(params).for_each(|(param, key)| param.within = key);
        fields.zip(rows).for_each(|(field, key)| field.within = key);
        signature.columns.iter_mut().zip(columns).for_each(|(column, key)| column.within = key);
        for (name, _) in &self.keys {
            if let Some(finding) = taken(self.sources, &pages, signature, name) {
                found.push(finding);
                leave(signature, name);
            }
        }
        found
    }

    /// Whether the names of all fields of a key are those of parameters, of fields of rows or of columns.
    fn may_be_in(&self, signature: &Signature) -> bool {
        let is_param = |name: &str| signature.params.iter().any(|param| param.name == name);
        let fields = || signature.rows.iter().flat_map(|rows| &rows.fields);
        let is_field = |name: &str| fields().any(|field| field.name == name);
        let is_column = |name: &str| signature.columns.iter().any(|column| column.name == name);
        self.keys.iter().any(|(_, key)| {
            let all = |is: &dyn Fn(&str) -> bool| key.iter().all(|field| is(field.name));
            all(&is_param) || all(&is_field) || all(&is_column)
        })
    }

    /// The key of each value, if it has one.
    fn belonging(&self, values: Vec<Option<Value<'_>>>) -> Vec<Option<String>> {
        let mut keys: Vec<Option<String>> = vec![None; values.len()];
        for (name, key) in &self.keys {
            let place = |field: &Field<'_>| {
                let is_free = |at: &usize| keys[*at].is_none();
                let is_it = |at: &usize| values[*at].as_ref().is_some_and(|value| value.is(field));
                (0..values.len()).find(|at| is_free(at) && is_it(at))
            };
            let places: Option<Vec<usize>> = key.iter().map(place).collect();
            places.into_iter().flatten().for_each(|at| keys[at] = Some((*name).to_owned()));
        }
        keys
    }
}

/// Has the fields of a key stand by themselves.
fn leave(signature: &mut Signature, key: &str) {
    let fields = signature.rows.iter_mut().flat_map(|rows| &mut rows.fields).chain(&mut signature.params);
    let columns = signature.columns.iter_mut().map(|column| &mut column.within);
    let all = fields.map(|param| &mut param.within).chain(columns);
    all.filter(|within| within.as_deref() == Some(key)).for_each(|within| *within = None);
}

fn as_value<'p>(param: &'p Param, origins: &impl Fn(&str) -> Vec<Origin<'p>>) -> Option<Value<'p>> {
    let is_open = param.optional || param.ty.nullable || param.of_key().is_some();
    let held = (param.ty.base.clone(), param.rust.clone());
    (!is_open).then(|| Value { name: &param.name, held, origins: origins(&param.name) })
}

/// What a field of a key holds: what its first column does.
fn held(config: &Config, schemas: &Both<Schema>, columns: &Columns) -> Option<Held> {
    columns.each().first().and_then(|column| all_held(config, schemas, column).into_values().next())
}

/// What the columns hold that a line of the settings names, by their tables.
fn all_held<'s>(config: &Config, schemas: &'s Both<Schema>, said: &str) -> BTreeMap<&'s str, Held> {
    let Some((owner, column)) = said.split_once('.') else { return BTreeMap::new() };
    let is_said = |table: &&Table| {
        if owner == "*" { !table.view && !table.partition } else { table.name == owner }
    };
    let tables = || schemas.sqlite.tables.values().chain(schemas.pg.tables.values()).filter(is_said);
    let held = |table: &'s Table| {
        let of = |schema: &Schema| Some(schema.tables.get(&table.name)?.column(column)?.ty.base.clone());
        let base = match (of(&schemas.sqlite), of(&schemas.pg)) {
            (Some(sqlite), Some(pg)) => Base::finer(&sqlite, &pg)?,
            (one, other) => one.or(other)?,
        };
        let rust = config.rust_type(&table.name, column).filter(|path| may_be(config, &base, path));
        Some((table.name.as_str(), (base, rust.map(str::to_owned))))
    };
    tables().filter_map(held).collect()
}

/// A parameter or a column that has the name under which the key is handed over.
fn taken(sources: &Sources, pages: &[PageOf<'_>], signature: &Signature, key: &str) -> Option<Diagnostic> {
    let param = |param: &Param| (param.name.clone(), param.within.clone());
    let params: Vec<_> = signature.params.iter().map(param).collect();
    let fields: Vec<_> = signature.rows.iter().flat_map(|rows| &rows.fields).map(param).collect();
    let columns: Vec<_> = signature.columns.iter().map(|c| (c.name.clone(), c.within.clone())).collect();
    let structs = [(params, "parameter"), (fields, "field"), (columns, "result column")];
    let is_taken = |named: &[(String, Option<String>)]| {
        let is_in = named.iter().any(|(_, within)| within.as_deref() == Some(key));
        is_in && named.iter().any(|(name, within)| name.split('.').next() == Some(key) && within.is_none())
    };
    let (_, what) = structs.iter().find(|(named, _)| is_taken(named))?;
    let statement = &signature.name;
    let message = format!("{statement}: a {what} has the name of the key `{key}`, whose fields are all there");
    let span = pages.first()?.raw.name_span;
    let finding = Diagnostic::error(rule::BAD_CONFIG, message, span, "would have two fields of this name");
    let finding = match place(sources, key, None) {
        Some(at) => finding.context(at, "the key"),
        None => finding,
    };
    Some(finding.help(format!("give the {what} another name, or the key below `[keys]` in `{FILE}`")))
}

/// What is wrong with the keys, whatever the statements say: columns that are not there or are not alike.
pub(crate) fn check(config: &Config, sources: &Sources, schemas: &Both<Schema>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (name, key) in &config.keys {
        for (field, columns) in &key.fields {
            found.extend(wrong(config, sources, schemas, (name, field, columns)));
        }
    }
    found
}

fn wrong(
    config: &Config,
    sources: &Sources,
    schemas: &Both<Schema>,
    (name, field, columns): (&str, &str, &Columns),
) -> Option<Diagnostic> {
    let error = |column: &str, message: String, label: &str| {
        let span = place(sources, name, Some(column))?;
        Some(Diagnostic::error(rule::BAD_CONFIG, message, span, label.to_owned()))
    };
    let mut first: Option<(&str, String)> = None;
    for column in columns.each() {
        let all = all_held(config, schemas, column);
        let mut types: BTreeMap<String, &str> = BTreeMap::new();
        for (table, (base, rust)) in &all {
            let rust = rust.as_ref().map_or_else(String::new, |path| format!(" [{path}]"));
            types.entry(format!("`{}{rust}`", base.word())).or_insert(table);
        }
        let Some((ty, _)) = types.first_key_value() else {
            let message = format!("the key `{name}` speaks of `{column}`, which is no column");
            let finding = error(column, message, "not known")?;
            return Some(match near(schemas, column) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => {
                    finding.help("write the name of a column, `table.column`, or of that in every table, `*.column`")
                }
            });
        };
        match &first {
            None if types.len() > 1 => {
                let each = types.iter().map(|(ty, table)| format!("{ty} in `{table}`")).collect::<Vec<_>>().join(", ");
                let message = format!("`{column}` is of several types: {each}");
                let finding = error(column, message, "which of them has the field?")?;
                let one = column.replace('*', types.first_key_value()?.1);
                return Some(
                    finding.help(format!(
                        "name one that has its type first: `fields.{field} = [\"{one}\", \"{column}\"]`"
                    )),
                );
            }
            None => first = Some((column, ty.clone())),
            // Of all columns of a name those of another type are none of the key.
            Some(_) if column.starts_with('*') => {}
            Some((known, of_known)) if of_known != ty => {
                let message =
                    format!("`{column}` is {ty}, and `{known}`, whose type the field `{field}` has, is {of_known}");
                return error(column, message, "of another type").map(|finding| finding.help("leave it out"));
            }
            Some(_) => {}
        }
    }
    None
}

/// The column whose name is nearly that.
fn near<'s>(schemas: &'s Both<Schema>, column: &str) -> Option<String> {
    let (owner, name) = column.split_once('.')?;
    let tables = || schemas.sqlite.tables.values().chain(schemas.pg.tables.values());
    let all = |of: &'s Table| of.columns.iter().map(|column| column.name.as_str());
    if owner == "*" {
        return nearest(name, tables().flat_map(all)).map(|name| format!("*.{name}"));
    }
    if let Some(table) = tables().find(|table| table.name == owner) {
        return nearest(name, all(table)).map(|name| format!("{owner}.{name}"));
    }
    let table = nearest(owner, tables().map(|table| table.name.as_str()))?;
    Some(format!("{table}.{name}"))
}

/// Keys that nothing takes and nothing gives.
pub(crate) fn unused(config: &Config, sources: &Sources, signatures: &[Signature]) -> Vec<Diagnostic> {
    let is_of = |within: &Option<String>, name: &str| within.as_deref() == Some(name);
    let has = |signature: &Signature, name: &str| {
        let fields = signature.rows.iter().flat_map(|rows| &rows.fields);
        signature.params.iter().chain(fields).any(|param| is_of(&param.within, name))
            || signature.columns.iter().any(|column| is_of(&column.within, name))
    };
    let idle = config.keys.iter().filter(|(name, _)| !signatures.iter().any(|signature| has(signature, name)));
    let told = idle.filter_map(|(name, Key { fields, .. })| {
        let message = format!("no statement takes or gives all fields of the key `{name}`");
        let finding = Diagnostic::error(rule::BAD_CONFIG, message, place(sources, name, None)?, "nothing uses it");
        let names = fields.keys().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(" and ");
        Some(
            finding
                .help(format!(
                    "call parameters and columns of results {names}, as its fields: values of their columns, never NULL"
                ))
                .help("or remove it"),
        )
    });
    told.collect()
}

/// Where a key stands, or a column that it names.
fn place(sources: &Sources, key: &str, column: Option<&str>) -> Option<Span> {
    let (file, source) = sources.iter().find(|(_, file)| file.path == FILE)?;
    let text = &source.text;
    let section = format!("[keys.{key}]");
    let line = |name: &str| text.find(&format!("\n{name} ="));
    let (at, len) = match text.find(&section) {
        Some(at) => (at, section.len()),
        None => (line(key).map_or_else(|| text.find(key).unwrap_or_default(), |at| at + 1), key.len()),
    };
    let column = column.and_then(|column| Some((at + text[at..].find(&format!("\"{column}\""))?, column.len() + 2)));
    let (at, len) = column.unwrap_or((at, len));
    Some(Span::new(file, at..at + len))
}

/// The members of a signature that belong to one key stand together; every other one alone.
pub(crate) fn parts<'m, M: Member + 'm>(members: impl Iterator<Item = &'m M>) -> Vec<(Option<&'m str>, Vec<&'m M>)> {
    let mut parts: Vec<(Option<&str>, Vec<&M>)> = Vec::new();
    for member in members {
        let key = member.within();
        match parts.iter_mut().find(|(known, _)| key.is_some() && *known == key) {
            Some((_, of_key)) => of_key.push(member),
            None => parts.push((key, vec![member])),
        }
    }
    parts
}

/// What may be a field of a key.
pub(crate) trait Member {
    /// Its name.
    fn name(&self) -> &str;
    /// The key that it is a field of.
    fn within(&self) -> Option<&str>;
}

impl Member for Param {
    fn name(&self) -> &str {
        &self.name
    }

    fn within(&self) -> Option<&str> {
        self.within.as_deref()
    }
}

impl Member for ResultColumn {
    fn name(&self) -> &str {
        &self.name
    }

    fn within(&self) -> Option<&str> {
        self.within.as_deref()
    }
}
