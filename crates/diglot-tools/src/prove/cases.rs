//! Makes the rows and the arguments of a case.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::checks::Moves;
use super::compare::NEW_IDS;
use super::pool::{self, Mood, Pool};
use super::random::Random;
use super::subject::{Subject, of_rows};
use super::tables::{List, Table, TableColumn};
use super::uses::Key;
use super::written::{self, Filling};
use diglot::dialect::{Both, Dialect};
use diglot::infer::{CHOICE, Param, RowsParam};
use diglot::page::Chooser;
use diglot::types::Base;
use diglot::value::Value;

/// A row: its values by column. What is missing is left to the database.
pub type Row = BTreeMap<String, Value>;

/// What a pair is tried on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Case {
    /// The rows of every table that has some.
    pub rows: BTreeMap<String, Vec<Row>>,
    /// The arguments; an optional one that is missing is not given.
    pub args: BTreeMap<String, Value>,
}

/// Cases of one kind follow each other in this circle: from rows that all match to rows that hardly do.
const MOODS: [(Mood, usize); 6] = [
    (Mood { main: 97, null: 4, edge: 0 }, 0),
    (Mood { main: 85, null: 12, edge: 15 }, 0),
    (Mood { main: 65, null: 25, edge: 50 }, 6),
    (Mood { main: 90, null: 50, edge: 10 }, 3),
    (Mood { main: 75, null: 10, edge: 90 }, 0),
    (Mood { main: 45, null: 30, edge: 80 }, 20),
];

/// The first number that a statement gives where the other page's database numbers: the databases number from lower ones.
pub(super) const FRESH: i64 = NEW_IDS + 50_000;

/// How often other values are tried for a row that would be there twice.
const ATTEMPTS: usize = 6;

impl Subject {
    /// The case of a number: always the same for the same seed.
    pub fn case(&self, seed: u64, number: u64, rows: usize) -> Case {
        if let Some(each) = &self.each {
            return each.case(seed, number, rows);
        }
        let index = usize::try_from(number % MOODS.len() as u64).unwrap_or(0);
        let (mood, odd) = MOODS[index];
        let random = Random::new(seed, &self.name, number);
        let mut maker = Maker { subject: self, random, mood, odd, mains: BTreeMap::new(), values: BTreeMap::new() };
        let mut case = Case::default();
        let round = number / MOODS.len() as u64;
        for table in &self.tables {
            // The first round has rows everywhere; later ones may do without.
            let most = if round > 0 && maker.random.percent(10) { 0 } else { 1 + maker.random.below(rows) };
            let made = maker.rows(table, most, &case);
            if !made.is_empty() {
                case.rows.insert(table.name.clone(), made);
            }
        }
        maker.arguments(number, &mut case);
        case
    }

    /// The case of a number on rows that are there: its arguments meet them more often than not.
    pub fn case_on(&self, rows: &BTreeMap<String, Vec<Row>>, seed: u64, number: u64) -> Case {
        let own = self.tables.iter().filter_map(|table| Some((table.name.clone(), rows.get(&table.name)?.clone())));
        let mut case = Case { rows: own.collect(), args: BTreeMap::new() };
        let (mood, odd) = MOODS[usize::try_from(number % MOODS.len() as u64).unwrap_or(0)];
        let random = Random::new(seed, &self.name, number);
        let mut maker = Maker { subject: self, random, mood, odd, mains: BTreeMap::new(), values: BTreeMap::new() };
        maker.mains = self.found(&case, &mut maker.random);
        maker.arguments(number, &mut case);
        case
    }

    /// One of the values that rows hold for each pool.
    fn found(&self, case: &Case, random: &mut Random) -> BTreeMap<(usize, &'static str), Value> {
        let mut found: BTreeMap<(usize, &'static str), Vec<Value>> = BTreeMap::new();
        for table in &self.tables {
            for column in &table.columns {
                let key = Key::Column(table.name.clone(), column.name.clone());
                let Some(pool) = self.pool_of.get(&key).filter(|_| !self.is_id_in_text(&key, &column.base)) else {
                    continue;
                };
                let values = case.rows.get(&table.name).into_iter().flatten().filter_map(|row| row.get(&column.name));
                let values = values.filter(|value| !matches!(value, Value::Null | Value::Json(_) | Value::List(_)));
                found.entry((*pool, column.base.word())).or_default().extend(values.cloned());
            }
        }
        found.into_iter().filter_map(|(pool, values)| Some((pool, random.pick(&values)?.clone()))).collect()
    }

    /// Gives one value to what is one value.
    pub(super) fn bind_again(&self, case: &mut Case) {
        for (name, first) in &self.again {
            if let Some(value) = case.args.get(first).cloned() {
                case.args.insert(name.clone(), value);
            }
        }
    }

    /// Which texts a case runs.
    pub fn variant(&self, case: &Case) -> Option<&Both<diglot::emitted::EmittedText>> {
        let is_given = |chooser: &Chooser| match chooser {
            Chooser::Order(order) => matches!(case.args.get(CHOICE), Some(Value::Text(chosen)) if chosen == order),
            Chooser::Page(_) => case.args.keys().any(|arg| arg.contains('.')),
            Chooser::Parameter(name) => case.args.contains_key(name),
        };
        self.variants
            .iter()
            .map(|texts| (texts, &texts.sqlite))
            .find(|(_, text)| text.variant.given.iter().all(is_given) && !text.variant.left_out.iter().any(is_given))
            .map(|(texts, _)| texts)
    }

    /// The texts that put a case's rows into a database, in their order. The rows of some tables go in one by one.
    pub fn fillings(&self, case: &Case, dialect: Dialect, is_apart: impl Fn(&str) -> bool) -> Vec<Filling> {
        let of_table = |table: &Table| {
            let rows = case.rows.get(&table.name).map_or(&[][..], Vec::as_slice);
            written::fillings(table, rows, dialect, is_apart(&table.name))
        };
        self.tables.iter().flat_map(of_table).collect()
    }

    /// The statements that take out again what no program would have written.
    pub fn clearings(&self) -> Vec<String> {
        let of_table = |table: &Table| {
            let condition = self.impossible.get(&table.name)?;
            Some(written::clearing(&table.name, condition))
        };
        self.tables.iter().filter_map(of_table).collect()
    }

    /// Whether text is an id there: ids that some tables hold as text and others as UUID are the same ids.
    pub(super) fn is_id_in_text(&self, key: &Key, base: &Base) -> bool {
        *base == Base::Text && self.pool(key).ids
    }

    /// Whether ids of the type UUID stand in a place.
    pub(super) fn holds_ids(&self, key: &Key) -> bool {
        match key {
            Key::Column(table, column) => self.tables.iter().any(|known| {
                known.name == *table && known.columns.iter().any(|c| c.name == *column && c.base == Base::Uuid)
            }),
            Key::Param(name) => {
                self.given().any(|param| param.name == *name && matches!(param.ty.base, Base::Uuid | Base::UuidArray))
            }
            Key::Json(..) => false,
        }
    }

    pub(super) fn pool(&self, key: &Key) -> &Pool {
        const NOTHING: &Pool = &Pool::NOTHING;
        self.pool_of.get(key).and_then(|at| self.pools.get(*at)).unwrap_or(NOTHING)
    }
}

struct Maker<'s> {
    subject: &'s Subject,
    random: Random,
    mood: Mood,
    /// In how many of a hundred places a JSON document is not as a program would write it.
    odd: usize,
    mains: BTreeMap<(usize, &'static str), Value>,
    /// The values of a pool, which are many times drawn from.
    values: BTreeMap<(usize, &'static str), Rc<Vec<Value>>>,
}

impl Maker<'_> {
    /// Adds the arguments to a case that has its rows.
    fn arguments(&mut self, number: u64, case: &mut Case) {
        let subject = self.subject;
        let given: &[Chooser] = match subject.variants.len() {
            0 => &[],
            count => &subject.variants[usize::try_from(number % count as u64).unwrap_or(0)].sqlite.variant.given,
        };
        for param in subject.params.iter().filter(|param| param.is_given(given)) {
            let order = || given.iter().find_map(Chooser::order);
            let value = match order().filter(|_| param.is_choice()) {
                Some(order) => Value::Text(order.to_owned()),
                None => self.argument(param),
            };
            case.args.insert(param.name.clone(), value);
        }
        for (name, number) in subject.fresh.iter().zip(FRESH..) {
            if let Some(value @ Value::Int(_)) = case.args.get_mut(name) {
                *value = Value::Int(number);
            }
        }
        subject.bind_again(case);
        if let Some(rows) = &subject.rows {
            let value = self.list_of_rows(rows);
            case.args.insert(rows.name.clone(), value);
        }
    }

    fn rows(&mut self, table: &Table, count: usize, case: &Case) -> Vec<Row> {
        // Rows lie in the order in which they came, and that need not be the order of their numbers.
        let falling = self.random.percent(30);
        let mut rows: Vec<Row> = Vec::new();
        let mut keys: BTreeSet<String> = BTreeSet::new();
        for at in 0..count {
            for attempt in 0..ATTEMPTS {
                let number = if falling { count - at } else { at + 1 };
                let row = self.row(table, number, at == 0 && attempt == 0, attempt, case);
                let taken: Vec<String> = table.unique.iter().filter_map(|key| key_of(&row, key)).collect();
                if taken.iter().any(|key| keys.contains(key)) {
                    continue;
                }
                keys.extend(taken);
                rows.push(row);
                break;
            }
        }
        rows
    }

    fn row(&mut self, table: &Table, number: usize, first: bool, attempt: usize, case: &Case) -> Row {
        let mut row = Row::new();
        for column in table.columns.iter().filter(|column| column.computed.is_none()) {
            if column.numbered {
                row.insert(column.name.clone(), Value::Int(i64::try_from(number).unwrap_or(1)));
                continue;
            }
            let key = Key::Column(table.name.clone(), column.name.clone());
            let is_key = table.unique.iter().any(|unique| unique.contains(&column.name));
            // A row that is there already is told apart by what is not the main value.
            let mood = if is_key && attempt > 0 { Mood { main: 30, ..self.mood } } else { self.mood };
            let value = self.column(&key, column, mood, first);
            row.insert(column.name.clone(), value);
        }
        for key in &table.foreign {
            let parents = case.rows.get(&key.table).map_or(&[][..], Vec::as_slice);
            let referred = self.subject.tables.iter().find(|other| other.name == key.table);
            let columns = if key.referred.is_empty() {
                referred.and_then(|table| table.unique.first()).cloned().unwrap_or_default()
            } else {
                key.referred.clone()
            };
            let parent = self.random.pick(parents).cloned();
            for (from, to) in key.columns.iter().zip(&columns) {
                let is_null = row.get(from) == Some(&Value::Null);
                if let (Some(value), false) = (parent.as_ref().and_then(|parent| parent.get(to)), is_null) {
                    row.insert(from.clone(), value.clone());
                }
            }
        }
        let is_of_key = |name: &String| {
            let foreign = table.foreign.iter().map(|key| &key.columns);
            table.unique.iter().chain(foreign).any(|key| key.contains(name))
        };
        let columns = table.columns.iter().enumerate();
        let open = columns.filter(|(_, column)| row.contains_key(&column.name) && !is_of_key(&column.name));
        let order = open.map(|(at, _)| at).collect();
        self.subject.checks.mend(table, &mut row, &Moves { order, loose: 0, values: &|_| Vec::new() });
        row
    }

    fn column(&mut self, key: &Key, column: &TableColumn, mood: Mood, first: bool) -> Value {
        let pool = self.subject.pool(key);
        if column.nullable && !pool.constant {
            let null = match (pool.null, first) {
                (true, _) => 40.max(mood.null),
                (false, true) => mood.null / 3,
                (false, false) => mood.null,
            };
            if self.random.percent(null) {
                return Value::Null;
            }
        }
        if column.base.is_time() && column.has_default {
            return pool::plain(&column.base, self.random.below(3));
        }
        match self.value(key, &column.base, mood) {
            // Both databases can hold no other.
            #[expect(clippy::cast_possible_truncation, reason = "what 4 bytes hold is what is wanted")]
            Value::Real(number) if column.narrow => Value::Real(f64::from((number as f32).clamp(f32::MIN, f32::MAX))),
            Value::Int(number) => Value::Int(match column.range {
                Some((least, most)) => i128::from(number).clamp(least, most).try_into().unwrap_or(number),
                None => number,
            }),
            value => value,
        }
    }

    fn argument(&mut self, param: &Param) -> Value {
        if self.subject.untyped.contains(&param.name) {
            return Value::Null;
        }
        let key = Key::Param(param.name.clone());
        let pool = self.subject.pool(&key);
        let null = if pool.null { 30.max(self.mood.null) } else { self.mood.null };
        if param.ty.nullable && self.random.percent(null) {
            return Value::Null;
        }
        // What an argument may be and a column of SQLite does not hold.
        let edges: Vec<Value> = [-0.0, f64::NAN].map(Value::Real).into_iter().filter(|v| pool.allows(v)).collect();
        if param.ty.base == Base::Float64 && self.random.percent(self.mood.edge / 4) && !edges.is_empty() {
            return self.random.pick(&edges).cloned().unwrap_or(Value::Null);
        }
        // Arguments miss less often than rows do, because one that misses everything tells little.
        let main = 50 + self.mood.main / 2;
        self.value(&key, &param.ty.base, Mood { main, ..self.mood })
    }

    /// The rows that a statement takes: none at times, and no two with the same key.
    fn list_of_rows(&mut self, rows: &RowsParam) -> Value {
        let fields: Vec<Param> = rows.fields.iter().map(|field| of_rows(rows, field)).collect();
        let mut list: Vec<Vec<Value>> = Vec::new();
        for _ in 0..self.random.below(6) {
            let row: Vec<Value> = fields.iter().map(|field| self.argument(field)).collect();
            let key: Vec<usize> = (0..row.len()).filter(|at| rows.key.contains(&rows.fields[*at].name)).collect();
            let is_same = |other: &Vec<Value>| key.iter().all(|at| other[*at] == row[*at]);
            if key.is_empty() || !list.iter().any(is_same) {
                list.push(row);
            }
        }
        Value::List(list.into_iter().map(Value::List).collect())
    }

    fn value(&mut self, key: &Key, base: &Base, mood: Mood) -> Value {
        let paths = self.subject.paths.get(key).cloned().unwrap_or_default();
        match base {
            Base::Json => Value::Json(self.document(key, &paths)),
            Base::Text if !paths.is_empty() => Value::Text(self.document(key, &paths).to_string()),
            Base::TextArray => {
                let list = self.list(key, &Base::Text, mood);
                self.as_sqlite_can(key, list)
            }
            Base::Int64Array => self.list(key, &Base::Int64, mood),
            Base::UuidArray => self.list(key, &Base::Uuid, mood),
            base => self.plain(key, base, mood),
        }
    }

    fn list(&mut self, key: &Key, item: &Base, mood: Mood) -> Value {
        let count = self.random.below(4);
        let items = (0..count).map(|_| self.plain(key, item, Mood { main: 60, ..mood }));
        Value::List(items.collect())
    }

    /// A list that SQLite can hold in its own form: without what it could not tell apart.
    fn as_sqlite_can(&self, key: &Key, list: Value) -> Value {
        let Key::Column(table, column) = key else { return list };
        let table = self.subject.tables.iter().find(|known| known.name == *table);
        let column = table.and_then(|table| table.columns.iter().find(|known| known.name == *column));
        match (column.and_then(|column| column.list.as_ref()), list) {
            (Some(List::Separated(between)), Value::List(mut items)) => {
                items.retain(|item| !matches!(item, Value::Text(text) if text.is_empty() || text.contains(between)));
                Value::List(items)
            }
            // A table has every item once.
            (Some(List::Table { .. }), Value::List(mut items)) => {
                items.sort_by(Value::compare);
                items.dedup();
                Value::List(items)
            }
            (_, list) => list,
        }
    }

    fn plain(&mut self, key: &Key, base: &Base, mood: Mood) -> Value {
        let (subject, at) = (self.subject, self.subject.pool_of.get(key).copied());
        let pool = subject.pool(key);
        let is_id = subject.is_id_in_text(key, base);
        let drawn = if is_id { Base::Uuid } else { base.clone() };
        let id = (at.unwrap_or(usize::MAX), drawn.word());
        let value = if self.random.percent(mood.main) {
            match self.mains.get(&id) {
                Some(main) => main.clone(),
                None => {
                    let main = pool.main(&mut self.random, &drawn, self.mood);
                    self.mains.insert(id, main.clone());
                    main
                }
            }
        } else {
            let values = Rc::clone(self.values.entry(id).or_insert_with(|| Rc::new(pool.values(&drawn))));
            self.random.pick(&values).cloned().unwrap_or(Value::Null)
        };
        if is_id { pool::as_text_of_uuid(&value) } else { value }
    }

    /// A document with the fields that somebody reads or writes there; anything where nobody does.
    fn document(&mut self, key: &Key, paths: &BTreeSet<Vec<String>>) -> Json {
        let declared_of = |path: &[String]| self.subject.fields.get(&(key.clone(), path.to_vec())).map(String::as_str);
        if let Some(kind) = declared_of(&[]) {
            return pool::declared_value(&mut self.random, &Value::Null, kind);
        }
        let has_always = paths.iter().any(|path| declared_of(path).is_some_and(|kind| kind.ends_with(pool::ALWAYS)));
        let wanted = self.subject.pool(key).literals.iter().filter_map(|value| value.clone().into_base(&Base::Json));
        let wanted: Vec<Json> =
            wanted.filter_map(|value| if let Value::Json(json) = value { Some(json) } else { None }).collect();
        if !wanted.is_empty() && !has_always && self.random.percent(60) {
            let json = self.random.pick(&wanted).cloned().unwrap_or_default();
            return if self.random.percent(30) { pool::with_points(&json) } else { json };
        }
        // Of what a field is declared, that is an object.
        if !self.subject.objects.contains(key) && self.random.percent(self.odd) {
            return pool::any_document(&mut self.random, 2);
        }
        if paths.is_empty() && self.random.percent(self.mood.edge) {
            let declared =
                |name: &str| self.subject.fields.get(&(key.clone(), vec![name.to_owned()])).map(String::as_str);
            return pool::any_object(&mut self.random, 2, &declared);
        }
        let is_list = !self.subject.objects.contains(key)
            && paths.iter().any(|path| path.first().is_some_and(|step| step == "*"));
        let mut document = if is_list { Json::Array(vec![Json::Null; self.random.below(4)]) } else { json!({}) };
        // Longer paths last, so that what they need is there.
        let mut sorted: Vec<&Vec<String>> = paths.iter().filter(|path| !path.is_empty()).collect();
        sorted.sort_by_key(|path| path.len());
        for path in sorted {
            // What stands in a list is told by what the list is declared to be.
            let is_item = (1..path.len()).any(|end| declared_of(&path[..end]).is_some_and(|kind| kind.ends_with("[]")));
            let words = declared_of(path);
            let declared = words.map(|words| words.strip_suffix(pool::ALWAYS).unwrap_or(words));
            let is_always = words != declared;
            if is_item || !is_always && self.random.percent(25) {
                continue;
            }
            let is_list = declared.is_some_and(|kind| kind.ends_with("[]"));
            let is_parent = !is_list && paths.iter().any(|other| other.len() > path.len() && other.starts_with(path));
            let kind = if is_parent { Some("object") } else { declared };
            let place = Key::Json(Box::new(key.clone()), path.clone());
            let mut values = Vec::new();
            for _ in 0..4 {
                let value = self.leaf(&place);
                let odd = !is_always && self.random.percent(self.odd);
                if self.subject.pool(&place).null && !is_list && !is_always && self.random.percent(15) {
                    values.push(Some(Json::Null));
                    continue;
                }
                values.push(match (kind, declared, odd) {
                    (Some("object"), None, true) => pool::json_leaf(&mut self.random, &value, None, true),
                    (Some("object"), ..) => Some(json!({})),
                    _ => pool::json_leaf(&mut self.random, &value, declared, odd),
                });
            }
            let mut next = 0;
            pool::put(&mut document, path, &mut || {
                next += 1;
                values[(next - 1) % values.len()].clone()
            });
        }
        document
    }

    fn leaf(&mut self, place: &Key) -> Value {
        let mood = self.mood;
        let pool = self.subject.pool(place);
        let written = pool.literals.iter().chain(&pool.words).next();
        let base = match written {
            Some(Value::Int(_)) => Base::Int64,
            Some(Value::Real(_)) => Base::Float64,
            Some(Value::Bool(_)) => Base::Bool,
            _ => Base::Text,
        };
        self.plain(place, &base, mood)
    }
}

/// A row's values under a key, unless one is NULL.
pub(super) fn key_of(row: &Row, key: &[String]) -> Option<String> {
    let values: Vec<String> = key.iter().filter_map(|name| row.get(name)).map(ToString::to_string).collect();
    let is_whole = values.len() == key.len() && values.iter().all(|value| value != "NULL");
    is_whole.then(|| format!("{}: {}", key.join(" "), values.join("\u{0}")))
}
