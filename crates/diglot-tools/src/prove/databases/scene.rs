//! The slots of a pair's databases: which rows there may be, what is free in them, and the case that picks make.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::carried;
use super::mended::Mended;
use super::taken;
use crate::prove::assumed;
use crate::prove::cases::{Case, FRESH, Row};
use crate::prove::domain::{self, Choice, Place, Tier};
use crate::prove::pool::{self, ALWAYS};
use crate::prove::subject::{Subject, of_rows};
use crate::prove::tables::{Table, TableColumn};
use crate::prove::uses::{Key, Looks};
use diglot::config::Assumption;
use diglot::infer::{CHOICE, Param};
use diglot::page::Chooser;
use diglot::types::Base;
use diglot::value::Value;

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Spot {
    /// Which of the texts is run.
    Variant,
    /// Whether a row is there.
    Here(usize),
    /// How many more rows like its first one a table has.
    Crowd(usize),
    /// Which place of a table's first row more rows like it have every other value in, by its slot.
    Parade(usize),
    /// A column of a row.
    Cell(usize, usize),
    /// A place in the document of a column.
    Member(usize, usize, Vec<String>),
    /// A parameter.
    Arg(String),
    /// A place in the document of a parameter.
    ArgMember(String, Vec<String>),
    /// Whether the list of rows that the statement takes has this one.
    Entry(usize),
    /// A field of such a row.
    Field(usize, usize),
}

/// A place with the values that it may hold.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) spot: Spot,
    pub(super) choices: Vec<Choice>,
}

/// A row that may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seat {
    /// Its table, by its place in the subject.
    pub(super) table: usize,
    /// The how manieth of its table it is.
    pub(super) number: usize,
}

/// What is chosen in every slot.
pub(super) type Picks = Vec<u16>;

/// All slots.
#[derive(Debug)]
pub(super) struct Scene<'s> {
    pub(super) subject: &'s Subject,
    pub(super) seats: Vec<Seat>,
    pub(super) slots: Vec<Slot>,
    pub(super) at: BTreeMap<Spot, usize>,
    today: i64,
    /// What is assumed, where it keeps a value out.
    pub(super) assumed: BTreeSet<Assumption>,
    pub(super) known_mended: Mended,
    /// What two places hold together because one of them meets what is computed of the other.
    pub(super) met: Vec<[(usize, u16); 2]>,
}

/// How many rows are in a list of rows.
const ENTRIES: usize = 2;
/// How many values of a parameter are tried that a CHECK refuses.
const BROKEN: usize = 2;

impl<'s> Scene<'s> {
    /// So many rows of each table, by the table's place.
    pub(super) fn new(subject: &'s Subject, counts: &BTreeMap<usize, usize>, today: i64) -> Self {
        let mut scene = Self {
            subject,
            seats: Vec::new(),
            slots: Vec::new(),
            at: BTreeMap::new(),
            today,
            assumed: BTreeSet::new(),
            known_mended: Mended::default(),
            met: Vec::new(),
        };
        if subject.variants.len() > 1 {
            let all = (0..subject.variants.len()).map(|at| Value::Int(i64::try_from(at).unwrap_or(0)));
            scene.add(Spot::Variant, all.map(core).collect());
        }
        scene.args();
        for (table, count) in counts {
            for number in 0..*count {
                let seat = scene.seats.len();
                scene.seats.push(Seat { table: *table, number });
                scene.add(Spot::Here(seat), [true, false].map(Value::Bool).map(core).into());
                scene.row(seat, &subject.tables[*table]);
            }
            let crowds = subject.reading.crowds.get(&subject.tables[*table].name);
            if let Some(crowds) = crowds.filter(|_| *count > 0) {
                scene.add(Spot::Crowd(*table), crowds.iter().map(|n| core(Value::Int(*n))).collect());
            }
            scene.parades(*table);
        }
        scene.computed();
        scene
    }

    pub(super) fn add(&mut self, spot: Spot, choices: Vec<Choice>) {
        let (choices, without) = match self.key_of(&spot) {
            Some((key, path)) => {
                assumed::kept(&self.subject.assume, &self.subject.assumed_places(&key), !path.is_empty(), choices)
            }
            None => (choices, BTreeSet::new()),
        };
        self.assumed.extend(without);
        if !choices.is_empty() {
            self.at.insert(spot.clone(), self.slots.len());
            self.slots.push(Slot { spot, choices });
        }
    }

    /// The column or the parameter that a spot is in, and the place in its document.
    pub(super) fn key_of(&self, spot: &Spot) -> Option<(Key, Vec<String>)> {
        let column = |seat: usize, at: usize| {
            let table = &self.subject.tables[self.seats[seat].table];
            Key::Column(table.name.clone(), table.columns[at].name.clone())
        };
        match spot {
            Spot::Cell(seat, at) => Some((column(*seat, *at), Vec::new())),
            Spot::Member(seat, at, path) => Some((column(*seat, *at), path.clone())),
            Spot::Arg(name) => Some((Key::Param(name.clone()), Vec::new())),
            Spot::ArgMember(name, path) => Some((Key::Param(name.clone()), path.clone())),
            Spot::Field(_, at) => {
                let rows = self.subject.rows.as_ref()?;
                Some((Key::Param(of_rows(rows, rows.fields.get(*at)?).name), Vec::new()))
            }
            Spot::Variant | Spot::Here(_) | Spot::Crowd(_) | Spot::Parade(_) | Spot::Entry(_) => None,
        }
    }

    pub(super) fn place<'a>(&self, key: &Key, base: &'a Base, nullable: bool) -> Place<'a>
    where
        's: 'a,
    {
        let subject: &'s Subject = self.subject;
        let pool = subject.pool(key);
        Place {
            pool,
            base,
            nullable,
            fixed: false,
            given: matches!(key, Key::Param(_)),
            // A list of texts holds ids where its items meet them.
            id: subject.is_id_in_text(key, if *base == Base::TextArray { &Base::Text } else { base }),
            range: None,
            today: self.today,
        }
    }

    fn args(&mut self) {
        let subject = self.subject;
        for param in &subject.params {
            let key = Key::Param(param.name.clone());
            self.given(&key, param, Spot::Arg(param.name.clone()));
            if self.at.contains_key(&Spot::Arg(param.name.clone())) {
                let paths = self.members(&key);
                for (path, choices) in paths {
                    self.add(Spot::ArgMember(param.name.clone(), path), choices);
                }
            }
        }
        let Some(rows) = &subject.rows else { return };
        for entry in 0..ENTRIES {
            self.add(Spot::Entry(entry), [true, false].map(Value::Bool).map(core).into());
            for (at, field) in rows.fields.iter().enumerate() {
                let field = of_rows(rows, field);
                self.given(&Key::Param(field.name.clone()), &field, Spot::Field(entry, at));
            }
        }
    }

    /// The slot of a parameter. One that is only stored is carried.
    fn given(&mut self, key: &Key, param: &Param, spot: Spot) {
        let subject = self.subject;
        if subject.untyped.contains(&param.name) || param.is_choice() {
            return;
        }
        let base = &param.ty.base;
        let choices = if subject.is_document(key, base) {
            self.documents(key, param.ty.nullable)
        } else if subject.is_in_class(key) {
            let place = self.place(key, base, param.ty.nullable);
            let is_field = matches!(spot, Spot::Field(..));
            domain::choices(Place { fixed: !is_field && subject.is_alone(key, param), ..place })
        } else {
            carried_or_null(param.ty.nullable, Tier::Core)
        };
        let choices = taken::first(subject, key, base, choices);
        let broken = subject.broken(key, base).into_iter().map(core).filter(|broken| !choices.contains(broken));
        let choices = choices.iter().cloned().chain(broken).collect();
        self.add(spot, choices);
    }

    fn row(&mut self, seat: usize, table: &Table) {
        let subject = self.subject;
        for (at, column) in table.columns.iter().enumerate() {
            let key = Key::Column(table.name.clone(), column.name.clone());
            if column.computed.is_some()
                || column.is_one_sided()
                || (column.base.is_time() && column.has_default && !subject.is_free(&key))
            {
                continue;
            }
            if column.nullable && subject.is_never_filled(&table.name, &column.name) {
                self.add(Spot::Cell(seat, at), vec![core(Value::Null)]);
                continue;
            }
            if subject.is_document(&key, &column.base) && column.list.is_none() && subject.is_opened(&key) {
                let choices = self.documents(&key, column.nullable);
                self.add(Spot::Cell(seat, at), choices);
                for (path, choices) in self.members(&key) {
                    self.add(Spot::Member(seat, at, path), choices);
                }
            } else if subject.is_free(&key) {
                let place = Place { range: column.whole_range(), ..self.place(&key, &column.base, column.nullable) };
                let choices = domain::choices(place).into_iter().map(|choice| fitted(choice, column));
                let (allowed, refused): (Vec<Choice>, Vec<Choice>) = choices.partition(|choice| {
                    choice.value.as_ref().is_none_or(|value| subject.checks.allow(&table.name, column, value))
                });
                self.add(Spot::Cell(seat, at), if allowed.is_empty() { refused } else { allowed });
            } else if column.nullable && !column.numbered {
                let first = if self.seats[seat].number == 0 { Tier::More } else { Tier::Edge };
                self.add(Spot::Cell(seat, at), carried_or_null(true, first));
            }
        }
    }

    /// The most values that a column or a parameter has.
    pub(super) fn most_values(&self) -> usize {
        let of_value =
            self.slots.iter().filter(|slot| !matches!(slot.spot, Spot::Here(_) | Spot::Parade(_) | Spot::Entry(_)));
        of_value.map(|slot| slot.choices.len()).max().unwrap_or(0)
    }

    /// What is picked in a place; none where nothing is to be picked, or nothing of its own is there.
    pub(super) fn picked(&self, picks: &Picks, spot: &Spot) -> Option<&Choice> {
        let at = *self.at.get(spot)?;
        self.slots[at].choices.get(usize::from(picks[at]))
    }

    fn is_true(&self, picks: &Picks, spot: &Spot) -> bool {
        self.picked(picks, spot).and_then(|choice| choice.value.as_ref()) == Some(&Value::Bool(true))
    }

    /// The case that picks make. Keys and references hold in it.
    pub(super) fn case(&self, picks: &Picks) -> Case {
        let mut rows: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
        for (at, seat) in self.seats.iter().enumerate() {
            if self.is_true(picks, &Spot::Here(at)) {
                rows.entry(seat.table).or_default().push(self.made(picks, at, seat.number));
            }
        }
        // Each row that is there has so many more like it.
        let there = self.seats.iter().enumerate().filter(|(at, _)| self.is_true(picks, &Spot::Here(*at)));
        for (at, seat) in there {
            let Some(Value::Int(count)) = self.picked(picks, &Spot::Crowd(seat.table)).and_then(|it| it.value.clone())
            else {
                continue;
            };
            let own = rows.entry(seat.table).or_default();
            own.extend(
                (0..usize::try_from(count).unwrap_or(0))
                    .map(|more| self.made(picks, at, CROWD + more + CROWD * 4 * seat.number)),
            );
        }
        self.paraded(picks, &mut rows);
        let mut case = Case { rows: self.settled(picks, rows), args: BTreeMap::new() };
        self.arguments(picks, &mut case);
        case
    }

    fn arguments(&self, picks: &Picks, case: &mut Case) {
        let subject = self.subject;
        let variant = match self.picked(picks, &Spot::Variant).and_then(|choice| choice.value.clone()) {
            Some(Value::Int(at)) => usize::try_from(at).unwrap_or(0),
            _ => 0,
        };
        let given = subject.variants.get(variant).map_or(&[][..], |texts| texts.sqlite.variant.given.as_slice());
        for (number, param) in subject.params.iter().enumerate().filter(|(_, param)| param.is_given(given)) {
            let order = given.iter().find_map(Chooser::order).filter(|_| param.is_choice());
            let spot = Spot::Arg(param.name.clone());
            let value = match (order, self.picked(picks, &spot)) {
                (Some(order), _) => Value::Text(order.to_owned()),
                (None, None) => Value::Null,
                (None, Some(Choice { value: Some(value), .. })) => spelled_as(value, &param.ty.base),
                (None, Some(_)) => self.left(picks, &Key::Param(param.name.clone()), &param.ty.base, number, &|path| {
                    Spot::ArgMember(param.name.clone(), path)
                }),
            };
            let name = if param.is_choice() { CHOICE.to_owned() } else { param.name.clone() };
            case.args.insert(name, value);
        }
        for (name, number) in subject.fresh.iter().zip(FRESH..) {
            if let Some(value @ Value::Int(_)) = case.args.get_mut(name) {
                *value = Value::Int(number);
            }
        }
        subject.bind_again(case);
        if let Some(rows) = &subject.rows {
            let mut list: Vec<Vec<Value>> = Vec::new();
            for entry in (0..ENTRIES).filter(|entry| self.is_true(picks, &Spot::Entry(*entry))) {
                let field = |(at, field): (usize, &Param)| match self.picked(picks, &Spot::Field(entry, at)) {
                    None => Value::Null,
                    Some(Choice { value: Some(value), .. }) => spelled_as(value, &field.ty.base),
                    Some(_) => carried::value(&field.ty.base, &Default::default(), at, 20 + entry),
                };
                let row: Vec<Value> = rows.fields.iter().enumerate().map(field).collect();
                let key: Vec<usize> = (0..row.len()).filter(|at| rows.key.contains(&rows.fields[*at].name)).collect();
                let is_same = |other: &Vec<Value>| key.iter().all(|at| other[*at] == row[*at]);
                if key.is_empty() || !list.iter().any(is_same) {
                    list.push(row);
                }
            }
            case.args.insert(rows.name.clone(), Value::List(list.into_iter().map(Value::List).collect()));
        }
    }

    /// What stands where nothing of its own is picked: a document of its members, or a value that nothing else has.
    fn left(
        &self,
        picks: &Picks,
        key: &Key,
        base: &Base,
        number: usize,
        member: &dyn Fn(Vec<String>) -> Spot,
    ) -> Value {
        let subject = self.subject;
        if !subject.is_document(key, base) {
            return carried::value(base, subject.pool(key), number, 17);
        }
        let paths = subject.paths.get(key).cloned().unwrap_or_default();
        let is_list =
            !subject.objects.contains(key) && paths.iter().any(|path| path.first().is_some_and(|step| step == "*"));
        let mut document = if is_list { json!([null]) } else { json!({}) };
        let mut sorted: Vec<&Vec<String>> = paths.iter().collect();
        sorted.sort_by_key(|path| path.len());
        for path in sorted {
            if let Some(Choice { value: Some(Value::Json(value)), .. }) = self.picked(picks, &member(path.clone())) {
                pool::put(&mut document, path, &mut || Some(value.clone()));
            }
        }
        spelled_as(&Value::Json(document), base)
    }

    pub(super) fn made(&self, picks: &Picks, seat: usize, number: usize) -> Row {
        let table = &self.subject.tables[self.seats[seat].table];
        let mut row = Row::new();
        for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| column.computed.is_none()) {
            let value = match self.picked(picks, &Spot::Cell(seat, at)) {
                Some(Choice { value: Some(value), .. }) => spelled_as(value, &column.base),
                Some(_) => {
                    let key = Key::Column(table.name.clone(), column.name.clone());
                    let is_opened =
                        self.at.keys().any(|spot| matches!(spot, Spot::Member(of, c, _) if (*of, *c) == (seat, at)));
                    if is_opened {
                        self.left(picks, &key, &column.base, number, &|path| Spot::Member(seat, at, path))
                    } else {
                        self.carried(table, at, number)
                    }
                }
                None => self.carried(table, at, number),
            };
            row.insert(column.name.clone(), self.settled_value(table, at, value, number));
        }
        self.mended(picks, Some(seat), table, row)
    }

    /// A value that tells a row from others.
    pub(super) fn carried(&self, table: &Table, at: usize, number: usize) -> Value {
        let column = &table.columns[at];
        let key = Key::Column(table.name.clone(), column.name.clone());
        if column.numbered {
            // Numbers of two tables are no numbers of the same.
            let place = self.subject.tables.iter().position(|known| known.name == table.name).unwrap_or(0);
            return Value::Int(i64::try_from(number + 1 + 300 * place).unwrap_or(0));
        }
        let pool = self.subject.pool(&key);
        if pool.constant {
            return pool::plain(&column.base, 0);
        }
        let base = if self.subject.is_id_in_text(&key, &column.base) { &Base::Uuid } else { &column.base };
        let value = self.whole(&key).unwrap_or_else(|| carried::value(base, pool, at, number));
        let value = if base == &column.base { value } else { pool::as_text_of_uuid(&value) };
        let choice = fitted(Choice { value: Some(value), tier: Tier::Core }, column);
        self.settled_value(table, at, choice.value.unwrap_or(Value::Null), number)
    }

    /// A document with nothing but what none of its column lacks, where there is such a thing.
    fn whole(&self, key: &Key) -> Option<Value> {
        let is_always = |path: &Vec<String>| {
            self.subject.fields.get(&(key.clone(), path.clone())).is_some_and(|kind| kind.ends_with(ALWAYS))
        };
        if !self.subject.fields.keys().any(|(of, path)| of == key && is_always(path)) {
            return None;
        }
        let mut document = json!({});
        for (path, choices) in self.members(key).into_iter().filter(|(path, _)| is_always(path)) {
            if let Some(Choice { value: Some(Value::Json(value)), .. }) = choices.into_iter().next() {
                pool::put(&mut document, &path, &mut || Some(value.clone()));
            }
        }
        Some(Value::Json(document))
    }

    /// A value, or another one where a CHECK does not let it through.
    fn settled_value(&self, table: &Table, at: usize, value: Value, number: usize) -> Value {
        let column = &table.columns[at];
        let pool = self.subject.pool(&Key::Column(table.name.clone(), column.name.clone()));
        self.subject.checks.settled(&table.name, column, pool, value, number)
    }
}

/// Where the numbers of rows begin that are there for their number.
const CROWD: usize = 30;

pub(super) fn core(value: Value) -> Choice {
    Choice { value: Some(value), tier: Tier::Core }
}

fn carried_or_null(nullable: bool, tier: Tier) -> Vec<Choice> {
    let null = nullable.then_some(Choice { value: Some(Value::Null), tier });
    [Choice { value: None, tier: Tier::Core }].into_iter().chain(null).collect()
}

/// A value as both databases can hold it in that column.
#[expect(clippy::cast_possible_truncation, reason = "what 4 bytes hold is what is wanted")]
fn fitted(choice: Choice, column: &TableColumn) -> Choice {
    let value = choice.value.map(|value| match value {
        Value::Real(number) if column.narrow => Value::Real(f64::from((number as f32).clamp(f32::MIN, f32::MAX))),
        Value::Int(number) => Value::Int(match column.range {
            Some((least, most)) => i128::from(number).clamp(least, most).try_into().unwrap_or(number),
            None => number,
        }),
        Value::List(items) => carried::list(items, column),
        Value::Text(text) => Value::Text(as_fine(text, column)),
        value => value,
    });
    Choice { value, ..choice }
}

/// A time as far as SQLite keeps it.
fn as_fine(text: String, column: &TableColumn) -> String {
    let stored = column.sqlite.as_ref().and_then(Base::stored).filter(|stored| stored.of.base().is_time());
    match (stored, text.split_once('.')) {
        (Some(stored), Some((seconds, _))) if stored.form.units() == 1 => seconds.to_owned(),
        _ => text,
    }
}

/// A document in a column of text is its text.
fn spelled_as(value: &Value, base: &Base) -> Value {
    match (value, base) {
        (Value::Json(json), Base::Text) => Value::Text(json.to_string()),
        (value, _) => value.clone(),
    }
}

impl Subject {
    /// Whether a column's values are free.
    pub(super) fn is_free(&self, key: &Key) -> bool {
        self.reading.forced.contains(key) || self.reading.looks.get(key).is_some_and(|looks| !looks.is_none())
    }

    /// Whether a row with a value there is impossible, so that it would be taken out again.
    fn is_never_filled(&self, table: &str, column: &str) -> bool {
        let filled = ["is", "not", "null"];
        self.impossible.get(table).is_some_and(|condition| {
            let words: Vec<String> = condition.split_whitespace().map(str::to_lowercase).collect();
            words.split_first().is_some_and(|(first, rest)| first == column && rest == filled)
        })
    }

    /// Whether a place holds a document, in a type of its own or as text.
    fn is_document(&self, key: &Key, base: &Base) -> bool {
        let is_met = || self.paths.contains_key(key) || self.related.contains(key);
        *base == Base::Json || (*base == Base::Text && is_met())
    }

    /// Values of a parameter that a CHECK of a written column refuses.
    fn broken(&self, key: &Key, base: &Base) -> Vec<Value> {
        let Key::Param(_) = key else { return Vec::new() };
        let Some(at) = self.pool_of.get(key) else { return Vec::new() };
        let columns = self.compared.iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
        let met = columns.filter(|(table, column)| {
            self.pool_of.get(&Key::Column(table.name.clone(), column.name.clone())) == Some(at)
        });
        let pool = self.pool(key);
        let mut broken: Vec<Value> = Vec::new();
        for (table, column) in met {
            let values = self.checks.refused(&table.name, column).into_iter();
            broken.extend(values.filter_map(|value| value.into_base(base)).filter(|value| pool.allows(value)));
        }
        broken.truncate(BROKEN);
        broken
    }

    /// Whether somebody looks into a document.
    fn is_opened(&self, key: &Key) -> bool {
        self.is_free(key)
            || self.fields.iter().any(|((of, _), kind)| of == key && kind.ends_with(ALWAYS))
            || self.reading.paths.iter().any(|path| matches!(path, Key::Json(of, _) if **of == *key))
    }

    /// Whether a place meets others whose values are free, or something is known of its values.
    fn is_in_class(&self, key: &Key) -> bool {
        let pool = self.pool(key);
        pool.bound
            || !pool.looks.is_none()
            || !pool.literals.is_empty()
            || !pool.words.is_empty()
            || !pool.checked.is_empty()
    }

    /// Whether all other places of its class are rows that differ from it, so that it may stay as it is.
    fn is_alone(&self, key: &Key, param: &Param) -> bool {
        let Some(at) = self.pool_of.get(key) else { return false };
        let pool = &self.pools[*at];
        let params = self.pool_of.iter().filter(|(key, of)| *of == at && matches!(key, Key::Param(_))).count();
        let is_plain = matches!(
            param.ty.base,
            Base::Int16
                | Base::Int32
                | Base::Int64
                | Base::Uuid
                | Base::Bytes
                | Base::Text
                | Base::Timestamp
                | Base::DateTime
                | Base::Date
        );
        let plain = Looks::MATCHED | Looks::CASED | Looks::MEASURED | Looks::CAST | Looks::MOMENT | Looks::CLOCK;
        let plain = plain | Looks::SUMMED | Looks::DIVIDED | Looks::ROUNDED | Looks::TRUTH | Looks::OPENED;
        let plain = plain | Looks::COUNTED;
        let is_met = pool.looks.any(Looks::EQUAL | Looks::ORDERED);
        params == 1
            && is_plain
            && is_met
            && pool.literals.is_empty()
            && !pool.bound
            && !pool.closed
            && !pool.looks.any(plain)
    }
}
