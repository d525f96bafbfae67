//! The table of operations is run: every row, over values at the edges of what it takes, on both engines.
//!
//! Two rows of one meaning must give the same for every value. Two of one word that mean something else must differ for
//! some value, or stand in the list of those that are stricter than they need be, with the reason. A row without a
//! counterpart must be there. `DIGLOT_POSTGRES_URL` names the server; without it nothing is run:
//!
//! ```console
//! $ cargo diglot with-postgres -- cargo test -p diglot --test table
//! ```
//!
//! `TABLE_EVALUATIONS=1000000` goes on with drawn values until so many expressions were evaluated on each engine.

#[path = "table/engines.rs"]
mod engines;
#[path = "table/values.rs"]
mod values;
#[path = "table/written.rs"]
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use diglot::dialect::Dialect;
use diglot::operations::{Form, Kinds, Operand, Row, row_for, rows};
use diglot::types::Base;

use engines::{Engines, Outcome};
use values::{Random, Value};

/// How many expressions each pair of rows is asked in a plain run.
const SAMPLE: usize = 200;

/// Pairs of rows that are taken for different and gave the same for all values, by word and meanings, with the reason.
const STRICTER: &[(&str, &str)] = &[];

/// What says something else each time, or does something beside its value: its rows are asked whether they are there.
fn is_unsteady(row: &Row) -> bool {
    let means = format!("{:?}", row.means);
    ["Chance", "Session", "Effect"].iter().any(|kind| means.starts_with(kind))
}

/// A row of SQLite and one of Postgres that are compared.
struct Facing {
    sqlite: &'static Row,
    pg: &'static Row,
}

impl Facing {
    fn is_same(&self) -> bool {
        self.sqlite.means == self.pg.means
    }

    fn name(&self) -> String {
        let (sqlite, pg) = (self.sqlite, self.pg);
        format!("{} as {:?} | {} as {:?}", sqlite.word, sqlite.means, pg.word, pg.means)
    }

    /// The types that both take at a place. What takes anything is asked with what both engines have as a type.
    fn bases(&self, at: usize) -> Vec<Base> {
        let (Some(ours), Some(theirs)) = (self.sqlite.kinds_at(at), self.pg.kinds_at(at)) else { return Vec::new() };
        let is_of_both = |base: &Base| {
            ours != Kinds::ANY
                || !(base.is_list() || TIMES.contains(base) || matches!(base, Base::Numeric | Base::Json))
        };
        theirs.bases(Dialect::Pg).filter(|base| ours.has(Dialect::Sqlite, base) && is_of_both(base)).collect()
    }

    /// Whether these are the rows that speak of such values.
    fn is_asked(&self, types: &[Base], values: &[Value], length: usize) -> bool {
        let present = |at: usize| values.iter().skip(at).step_by(length.max(1)).all(|value| !value.is_null());
        let operands: Vec<Operand<'_>> =
            (0..length).map(|at| Operand { base: types.get(at), is_present: present(at) }).collect();
        let is = |row: &'static Row, dialect| {
            row_for(dialect, row.form, row.word, &operands).is_some_and(|found| std::ptr::eq(found, row))
        };
        is(self.sqlite, Dialect::Sqlite) && is(self.pg, Dialect::Pg)
    }

    /// With how many values both are written.
    fn lengths(&self) -> Vec<usize> {
        let range = |row: &Row| row.takes.len()..=(row.takes.len() + row.more.min(1));
        range(self.pg).filter(|length| range(self.sqlite).contains(length)).collect()
    }
}

/// Every two rows of one meaning, and every two of one word.
fn facing() -> Vec<Facing> {
    let all: Vec<&'static Row> = rows().collect();
    let on = |dialect| all.iter().copied().filter(move |row: &&Row| row.is_on(dialect) && !is_unsteady(row));
    let mut facing = Vec::new();
    for sqlite in on(Dialect::Sqlite) {
        for pg in on(Dialect::Pg) {
            let is_kin = sqlite.word == pg.word && discriminant(&sqlite.means) == discriminant(&pg.means);
            if sqlite.form == pg.form && (is_kin || sqlite.means == pg.means) {
                facing.push(Facing { sqlite, pg });
            }
        }
    }
    facing
}

/// A type for every place: places that take the same have one type, but for numbers, which are mixed.
fn chosen(random: &mut Random, places: &[Vec<Base>], length: usize) -> Option<Vec<Base>> {
    let is_number =
        |base: &Base| matches!(base, Base::Int16 | Base::Int32 | Base::Int64 | Base::Float64 | Base::Numeric);
    let mut types: Vec<Base> = Vec::new();
    for (at, bases) in places.iter().enumerate() {
        let alike = (0..at).find(|before| places[*before] == *bases && !bases.iter().all(is_number));
        let column = at.checked_sub(length).map(|above| types[above].clone());
        let one = bases.get(random.below(bases.len()))?.clone();
        types.push(column.or_else(|| Some(types[alike?].clone())).unwrap_or(one));
    }
    Some(types)
}

/// Points in time and spans of it.
const TIMES: [Base; 5] = [Base::Timestamp, Base::DateTime, Base::Date, Base::TimeOfDay, Base::Interval];

/// A value of each type.
fn drawn(random: &mut Random, types: &[Base], pools: &BTreeMap<&'static str, Vec<Value>>) -> Option<Vec<Value>> {
    let one = |base: &Base| {
        let pool = pools.get(base.word())?;
        pool.get(random.below(pool.len())).cloned()
    };
    types.iter().map(one).collect()
}

/// Every value, and all of one type beside each other; of an operator also whole numbers beside real ones. What takes
/// anything, such as COALESCE, is not asked about such a mixture: Postgres makes one type of it, SQLite does not, and
/// its row speaks of values of one type.
fn edges(places: &[Vec<Base>], pools: &BTreeMap<&'static str, Vec<Value>>) -> Vec<(Vec<Base>, Vec<Value>)> {
    let pool = |base: &Base| pools.get(base.word()).map_or(&[][..], Vec::as_slice);
    let (left, right) = match places {
        [only] => {
            let values =
                |base: &Base| pool(base).iter().map(|value| (vec![base.clone()], vec![value.clone()])).collect();
            return only.iter().flat_map(|base| -> Vec<_> { values(base) }).collect();
        }
        [left, right] => (left, right),
        _ => return Vec::new(),
    };
    let mixed = [[Base::Int64, Base::Float64], [Base::Float64, Base::Int64]];
    let alike = left.iter().map(|base| [base.clone(), base.clone()]);
    let types = alike.chain(mixed).filter(|[ours, theirs]| {
        let is_alike = ours == theirs || !left.contains(&Base::Text);
        is_alike && left.contains(ours) && right.contains(theirs)
    });
    types
        .flat_map(|types| {
            let pairs =
                pool(&types[0]).iter().flat_map(|ours| pool(&types[1]).iter().map(move |theirs| (ours, theirs)));
            let pairs = pairs.map(|(ours, theirs)| (types.to_vec(), vec![ours.clone(), theirs.clone()]));
            pairs.collect::<Vec<_>>()
        })
        .collect()
}

/// Whether each value stands in one place of an expression.
fn is_written_once(form: Form) -> bool {
    matches!(form, Form::Infix | Form::Prefix | Form::Call | Form::Cast)
}

/// What came of a run.
#[derive(Default)]
struct Tally {
    evaluations: usize,
    unsound: Vec<String>,
    same: BTreeSet<String>,
    compared: BTreeSet<String>,
    witnessed: BTreeSet<String>,
    /// Pairs of one meaning that gave a value at least once.
    valued: BTreeSet<String>,
}

async fn round(engines: &mut Engines, random: &mut Random, drawn_values: usize, most: usize, tally: &mut Tally) {
    let pools = values::pools(random, drawn_values);
    engines.know(&values::reals(&pools)).await;
    for pair in facing() {
        let mut asked: Vec<(String, String)> = Vec::new();
        for length in pair.lengths() {
            let places: Vec<Vec<Base>> =
                (0..written::places(pair.pg.form, length)).map(|at| pair.bases(at % length.max(1))).collect();
            let mut choices =
                if is_written_once(pair.pg.form) && drawn_values == 0 { edges(&places, &pools) } else { Vec::new() };
            for _ in 0..if places.is_empty() { 1 } else { most } {
                let Some(types) = chosen(random, &places, length) else { break };
                let Some(values) = drawn(random, &types, &pools) else { break };
                choices.push((types, values));
            }
            for (types, values) in choices {
                let text = |row: &Row, dialect| written::expression(row, dialect, &values, length);
                if pair.is_asked(&types, &values, length) {
                    asked.push((text(pair.sqlite, Dialect::Sqlite), text(pair.pg, Dialect::Pg)));
                }
            }
        }
        asked.sort();
        asked.dedup();
        let (ours, theirs): (Vec<String>, Vec<String>) = asked.into_iter().unzip();
        let (sqlite, pg) = (engines.sqlite(&ours).await, engines.pg(&theirs).await);
        tally.evaluations += ours.len();
        let name = pair.name();
        if !ours.is_empty() && !pair.is_same() {
            tally.compared.insert(name.clone());
        }
        for (at, (left, right)) in sqlite.iter().zip(&pg).enumerate() {
            let alike = left.is_like(right);
            if pair.is_same() && !alike {
                tally.unsound.push(format!("{name}: {} gave {left:?}, {} gave {right:?}", ours[at], theirs[at]));
            }
            if pair.is_same() && !matches!(left, Outcome::Error(_)) {
                tally.valued.insert(name.clone());
            }
            if !pair.is_same() && !alike {
                tally.witnessed.insert(name.clone());
            }
        }
        if pair.is_same() && !ours.is_empty() {
            tally.same.insert(name);
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn every_row_says_what_the_engines_do() {
    let Some(mut engines) = Engines::open().await else {
        println!("DIGLOT_POSTGRES_URL is not set: nothing was run");
        return;
    };
    let wanted = std::env::var("TABLE_EVALUATIONS").ok().and_then(|number| number.parse::<usize>().ok());
    let (mut random, mut tally) = (Random::new(15), Tally::default());
    loop {
        // The first round has the edges alone.
        let drawn = if tally.evaluations == 0 { 0 } else { 40 };
        round(&mut engines, &mut random, drawn, if wanted.is_some() { 2 * SAMPLE } else { SAMPLE }, &mut tally).await;
        if wanted.is_none_or(|wanted| tally.evaluations >= wanted) || tally.unsound.len() > 1000 {
            break;
        }
    }
    let stricter: Vec<&String> = tally.compared.difference(&tally.witnessed).collect();
    let empty: Vec<&String> = tally.same.difference(&tally.valued).collect();
    println!(
        "{} rows, {} pairs of one meaning, {} that differ, {} evaluations on each engine",
        rows().count(),
        tally.same.len(),
        tally.compared.len(),
        tally.evaluations
    );
    println!("stricter than need be: {stricter:#?}");
    let kinds: BTreeSet<&str> = tally.unsound.iter().filter_map(|line| line.split(": ").next()).collect();
    let shown: Vec<&String> = kinds
        .iter()
        .flat_map(|kind| tally.unsound.iter().filter(move |line| line.starts_with(&format!("{kind}: "))).take(4))
        .collect();
    assert!(tally.unsound.is_empty(), "{} are unsound: {shown:#?}", tally.unsound.len());
    assert!(empty.is_empty(), "never gave a value: {empty:#?}");
    let listed: Vec<&str> = STRICTER.iter().map(|(name, _)| *name).collect();
    let names: Vec<&str> = stricter.iter().map(|name| name.as_str()).collect();
    assert_eq!(names, listed, "the list of what is stricter than need be");
}

#[tokio::test(flavor = "current_thread")]
async fn every_row_is_there() {
    let Some(mut engines) = Engines::open().await else { return };
    let (mut random, mut missing) = (Random::new(16), Vec::new());
    let pools = values::pools(&mut random, 0);
    engines.know(&values::reals(&pools)).await;
    for row in rows() {
        for dialect in Dialect::ALL.into_iter().filter(|dialect| row.is_on(*dialect)) {
            let length = row.takes.len();
            let bases = |at: usize| row.kinds_at(at).map_or_else(Vec::new, |kinds| kinds.bases(dialect).collect());
            let places: Vec<Vec<Base>> =
                (0..written::places(row.form, length)).map(|at| bases(at % length.max(1))).collect();
            let mut texts = Vec::new();
            for _ in 0..120 {
                let Some(types) = chosen(&mut random, &places, length) else { break };
                let Some(values) = drawn(&mut random, &types, &pools) else { break };
                texts.push(written::expression(row, dialect, &values, length));
            }
            texts.dedup();
            let outcomes = match dialect {
                Dialect::Sqlite => engines.sqlite(&texts).await,
                Dialect::Pg => engines.pg(&texts).await,
            };
            if outcomes.iter().all(Outcome::is_absent) {
                missing.push(format!(
                    "{dialect} {:?} {}: {:?} {:?}",
                    row.form,
                    row.word,
                    texts.first(),
                    outcomes.first()
                ));
            }
        }
    }
    assert!(missing.is_empty(), "these rows are of nothing: {missing:#?}");
}

/// Forms are told apart by how they are written.
#[test]
fn each_form_is_written_in_its_own_way() {
    let forms: BTreeSet<String> = rows().map(|row| format!("{:?}", row.form)).collect();
    assert_eq!(forms.len(), 8, "{forms:?}");
    assert!(rows().any(|row| row.form == Form::Source));
}
