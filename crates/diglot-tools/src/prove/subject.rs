//! A pair as it is tried: its texts, its tables, its arguments, and what its answer promises.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bound::{bound_again, related};
use super::checks::Checks;
use super::computations;
use super::each::Each;
use super::known;
use super::numbers::Numbers;
use super::order::{self, Order};
use super::pool::{ALWAYS, Pool};
use super::printed;
use super::reading::Reading;
use super::sorts::sorts_text;
use super::tables::{CLOCKS, Relations, Table, Tables};
use super::touched::{around, touched};
use super::union::Union;
use super::unpromised::{clocked, reads_clock, rests_on_order, rests_on_zone};
use super::uses::{Key, Uses, uses};
use diglot::config::{Assume, Config};
use diglot::dialect::{Both, Dialect};
use diglot::emitted::EmittedText;
use diglot::infer::{Param, ResultColumn, RowsParam};
use diglot::page::{Annotation, AnnotationKind, Cardinality};
use diglot::pipeline::{Compiled, Partial, ReadProject};
use diglot::project::Inputs;
use diglot::source::{FileId, Sources, Span};
use diglot::tree::{Source, SourceKind, Statement};
use diglot::types::Base;
use diglot::value::Value;

/// A compiled project, with what the engines told about it.
pub struct Prover<'a> {
    pub(super) config: &'a Config,
    pub(super) sources: &'a Sources,
    pub(super) compiled: &'a Compiled,
    pub(super) project: ReadProject<'a>,
    pub(super) relations: &'a Relations,
    /// What all statements hold columns against, and the words that CHECKs list.
    pub(super) known: BTreeMap<Key, Vec<Value>>,
    /// Texts that other CHECKs speak of beside a column.
    pub(super) checked: BTreeMap<Key, Vec<Value>>,
    /// The places in JSON documents that some statement reads or writes.
    paths: BTreeSet<Key>,
    /// What CHECKs let through.
    pub(super) checks: Checks,
}

/// A pair.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The file's stem.
    pub noun: String,
    /// `noun_verb`.
    pub name: String,
    /// Where its name stands on both pages.
    pub places: Vec<Span>,
    /// How many rows it promises.
    pub cardinality: Cardinality,
    /// Whether it writes.
    pub writes: bool,
    /// Whether Postgres may answer otherwise where text sorts otherwise.
    pub sorts_text: bool,
    /// Whether the order in which rows were inserted may decide what it answers.
    pub rests_on_order: bool,
    /// Whether Postgres may answer otherwise in a session of another zone, and nothing says which one it is.
    pub rests_on_zone: bool,
    /// Whether a program of its own runs several statements of it one by one, and counts rows as it likes.
    pub(super) is_piecewise: bool,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The list of rows that it takes.
    pub rows: Option<RowsParam>,
    /// Those of its parameters that have no type, and are NULL.
    pub untyped: BTreeSet<String>,
    /// The names of its columns and the types in which both pages show them, where known.
    pub columns: Vec<(String, Option<Base>)>,
    /// The names that the columns have on either page, where an answer of that page is shown.
    pub(super) labels: Both<Vec<String>>,
    /// The texts of SQLite and Postgres for every set of parameters that may be given.
    pub variants: Vec<Both<EmittedText>>,
    /// No function can be made of it: whether an engine takes its text at all is to be seen.
    pub is_partial: bool,
    /// The tables that are filled, those first that others refer to.
    pub tables: Vec<Table>,
    /// The filled tables behind each view that a page reads.
    pub(super) views: BTreeMap<String, Vec<String>>,
    /// The tables that are looked at afterwards.
    pub compared: Vec<Table>,
    /// `-- diverges(results…)`.
    pub declared: Vec<Declared>,
    pub(super) order: Order,
    /// The columns of the result by which each page sorts, if it does.
    pub(super) keys: Both<Option<Vec<usize>>>,
    /// Whether its texts show what they sort by behind the columns of its result.
    pub(super) shows_keys: bool,
    /// Whether what it writes or answers may be the time of the run.
    pub(super) reads_clock: bool,
    /// The columns of the result that a page works out of the clock.
    pub(super) clocked: BTreeSet<usize>,
    /// The table and its columns by which both pages sort the rows of that table alone.
    pub(super) sorted: Option<(String, Vec<String>)>,
    /// Tables to whose rows it gives their numbers itself.
    pub numbers: BTreeSet<String>,
    /// Parameters by which one page gives a row its number where the other lets the database number it: they hold
    /// numbers that no row has.
    pub(super) fresh: BTreeSet<String>,
    /// Parameters of one page alone that are another one of both, bound a second time.
    pub(super) again: BTreeMap<String, String>,
    pub(super) pools: Vec<Pool>,
    pub(super) pool_of: BTreeMap<Key, usize>,
    /// Places in the documents of columns and parameters.
    pub(super) paths: BTreeMap<Key, BTreeSet<Vec<String>>>,
    /// What `[prove.fields]` says of them.
    pub(super) fields: BTreeMap<(Key, Vec<String>), String>,
    /// Documents that are objects, because it says something of their fields.
    pub(super) objects: BTreeSet<Key>,
    /// Those of which each member is read, whatever its name.
    pub(super) named: BTreeSet<Key>,
    /// Documents that meet others as a whole.
    pub(super) related: BTreeSet<Key>,
    /// The columns of its result that are documents as text, which whoever gets them parses.
    pub(super) spelled: BTreeSet<usize>,
    /// The parameters that Postgres holds against a document that it prints, so they have what the program read of one.
    pub printed: BTreeSet<String>,
    /// What its pages ask of rows and arguments.
    pub(super) reading: Arc<Reading>,
    /// What no program writes though the schemas would let it in.
    pub(super) assume: Assume,
    /// Rows that no program writes, by table.
    pub(super) impossible: BTreeMap<String, String>,
    /// What CHECKs let through.
    pub(super) checks: Checks,
    /// How the calls of a list are made, where it faces a statement for one row.
    pub(super) each: Option<Each>,
}

impl Subject {
    /// Whether its statement of Postgres is several where the tables are spread.
    pub fn takes_steps(&self) -> bool {
        self.variants.iter().any(|texts| texts.pg.steps.is_some())
    }

    /// What it is given: its parameters, and the fields of the rows that it takes, under the names of their places.
    pub(super) fn given(&self) -> impl Iterator<Item = Param> {
        let fields = self.rows.iter().flat_map(|rows| rows.fields.iter().map(|field| of_rows(rows, field)));
        self.params.iter().cloned().chain(fields)
    }
}

/// A field of rows under the name of its place.
pub(super) fn of_rows(rows: &RowsParam, field: &Param) -> Param {
    Param { name: format!("{}.{}", rows.name, field.name), ..field.clone() }
}

/// A declaration that the answers differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The column that differs; none: all of it may.
    pub column: Option<String>,
    /// Where it stands.
    pub span: Span,
}

/// What is run of a pair, and how it is read.
struct Ready {
    noun: String,
    cardinality: Cardinality,
    params: Vec<Param>,
    rows: Option<RowsParam>,
    untyped: BTreeSet<String>,
    columns: Vec<(String, Option<Base>)>,
    variants: Vec<Both<EmittedText>>,
    trees: Both<Statement>,
    is_partial: bool,
}

impl<'a> Prover<'a> {
    /// Reads what all statements of a project say about its columns.
    pub fn new(inputs: &'a Inputs, compiled: &'a Compiled, relations: &'a Relations) -> Self {
        let project = ReadProject::read(inputs);
        let checks = Checks::of(project.schemas(), &relations.judge);
        let mut prover = Self {
            checks,
            config: &inputs.config,
            sources: &inputs.sources,
            compiled,
            project,
            relations,
            known: BTreeMap::new(),
            checked: BTreeMap::new(),
            paths: BTreeSet::new(),
        };
        for name in prover.project.pairs() {
            let signature = compiled.signatures.iter().find(|signature| signature.name == name);
            let lists = signature.map(|signature| lists(&signature.params)).unwrap_or_default();
            for page in Dialect::ALL.into_iter().filter_map(|dialect| prover.project.tree(&name, dialect)) {
                let found = uses(&page, &lists);
                for (key, value) in found.literals.into_iter().filter(|(key, _)| stays(key)) {
                    let values = prover.known.entry(key).or_default();
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                prover.paths.extend(found.paths.into_iter().filter(stays));
            }
        }
        for dialect in Dialect::ALL {
            known::of_schema(&prover.project.schemas()[dialect], &mut prover.known, &mut prover.checked);
        }
        prover
    }

    /// All pairs that have texts, in the order of the files.
    pub fn subjects(&self) -> Vec<Subject> {
        let names = self.project.pairs().into_iter().chain(self.project.lists().map(|(name, _)| name.to_owned()));
        names.filter_map(|name| self.subject(&name)).collect()
    }

    /// The pair of a name, if it has texts.
    pub fn subject(&self, name: &str) -> Option<Subject> {
        if let Some((_, one)) = self.project.lists().find(|(list, _)| *list == name) {
            return self.list(name, self.subject(one).or_else(|| self.alone(one))?);
        }
        let ready = self.ready(name).or_else(|| self.partial(name))?;
        let touched = touched(&self.tables(), &ready.trees);
        Some(self.of(name, ready, touched))
    }

    /// The tables that migrations name, as a pair that does nothing: the rows that go in, and how what is left of them is
    /// compared. `said` is the text of the migrations. Tables that refer to them are looked at too.
    pub fn of_migrations(&self, said: &str) -> Subject {
        let said = said.to_lowercase();
        let words: BTreeSet<&str> = said.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let place = Span::new(FileId(0), 0..0);
        let trees = Both::of(|dialect| Statement {
            name: String::new(),
            dialect,
            cardinality: Cardinality::Exec,
            span: place,
            parts: Vec::new(),
            result: None,
            params: Vec::new(),
            rewrites: Vec::new(),
        });
        let nothing = Ready {
            noun: String::new(),
            cardinality: Cardinality::Exec,
            params: Vec::new(),
            rows: None,
            untyped: BTreeSet::new(),
            columns: Vec::new(),
            variants: Vec::new(),
            trees,
            is_partial: true,
        };
        let mut subject = self.of("", nothing, around(&self.tables(), |name| words.contains(name)));
        subject.reads_clock |= CLOCKS.iter().any(|clock| words.contains(clock));
        subject
    }

    /// A list on Postgres, and on SQLite the page of the statement for one row.
    fn list(&self, name: &str, mut one: Subject) -> Option<Subject> {
        let signature = self.compiled.signatures.iter().find(|signature| signature.name == name)?;
        let pg = self.compiled.texts.iter().find(|text| text.name == name && text.dialect == Dialect::Pg)?;
        let trees =
            Both { sqlite: self.project.tree(&one.name, Dialect::Sqlite)?, pg: self.project.tree(name, Dialect::Pg)? };
        let ready = Ready {
            noun: signature.noun.clone(),
            cardinality: Cardinality::Many,
            params: signature.params.clone(),
            rows: signature.rows.clone(),
            untyped: BTreeSet::new(),
            columns: signature.columns.iter().map(|c| (c.name.clone(), Some(shown(c)))).collect(),
            variants: vec![Both { sqlite: one.variants.first()?.sqlite.clone(), pg: pg.clone() }],
            trees,
            is_partial: false,
        };
        let touched = touched(&self.tables(), &ready.trees);
        let mut subject = self.of(name, ready, touched);
        subject.labels = Both::of(|_| signature.columns.iter().map(|column| column.name.clone()).collect());
        subject.places.splice(0..0, one.places.first().copied());
        subject.order = Order::Free;
        subject.keys = Both { sqlite: None, pg: None };
        one.learn(&subject);
        let may_fail = |annotation: &Annotation| matches!(annotation.kind, AnnotationKind::Each { fails: Some(_), .. });
        subject.each = Some(Each::new(one, &subject, self.project.annotations(name).any(may_fail))?);
        Some(subject)
    }

    fn tables(&self) -> Tables<'_> {
        Tables::new(self.config, self.project.schemas(), self.relations)
    }

    /// A pair that fills and compares these tables.
    fn of(&self, name: &str, ready: Ready, (filled, compared): (Vec<Table>, Vec<Table>)) -> Subject {
        let Ready { noun, cardinality, params, rows, untyped, columns, variants, trees, is_partial } = ready;
        let tables = self.tables();
        let found = trees.each_ref().map(|tree| uses(tree, &lists(&params)));
        let params = self.as_bound(name, params, &found, &filled);
        let computations = computations::of(self.sources, &trees.sqlite);
        let reading = Reading { computations, ..Reading::of(&trees, &found, &filled, &tables) };
        let Numbers { own: numbers, fresh } = Numbers::of(&trees, &compared);
        let is_clocked = |table: &Table| table.columns.iter().any(|column| column.clock);
        let reads_clock = reads_clock(&trees, &tables) || compared.iter().any(is_clocked);
        let order = order::of(&trees.sqlite, &filled).min(order::of(&trees.pg, &filled));
        let mut subject = Subject {
            noun,
            name: name.to_owned(),
            places: self.project.places(name),
            cardinality,
            writes: is_partial || trees.iter().flat_map(|tree| &tree.parts).any(|part| part.target().is_some()),
            // What a view or a trigger does is not looked at.
            sorts_text: sorts_text(&trees.pg)
                || trees.pg.sources().iter().any(|source| source.table().is_some_and(|name| tables.is_view(name)))
                || compared.len() > trees.pg.parts.iter().filter(|part| part.target().is_some()).count(),
            is_piecewise: !self.config.generate.enabled
                && trees.iter().flat_map(|tree| &tree.parts).any(|part| part.statement > 0),
            rests_on_order: trees.iter().any(rests_on_order)
                && !self.project.annotations(name).any(|annotation| annotation.kind.leaves_order_open()),
            rests_on_zone: self.config.pg_timezone.is_empty() && rests_on_zone(&trees.pg),
            params,
            rows,
            untyped,
            labels: trees.each_ref().map(|tree| tree.columns().into_iter().map(|(name, _)| name).collect()),
            columns,
            variants,
            is_partial,
            views: views(&trees, &tables, &filled),
            tables: filled,
            compared,
            declared: self.declared(name),
            spelled: printed::columns(self.config, &trees.pg),
            printed: printed::params(self.config, &trees.pg),
            order,
            sorted: order::sorted(&trees.sqlite).filter(|keys| order::sorted(&trees.pg).as_ref() == Some(keys)),
            keys: trees.each_ref().map(order::keys),
            shows_keys: false,
            reads_clock,
            clocked: trees.iter().flat_map(clocked).collect(),
            numbers,
            fresh,
            again: bound_again(&trees),
            pools: Vec::new(),
            pool_of: BTreeMap::new(),
            paths: BTreeMap::new(),
            fields: BTreeMap::new(),
            objects: BTreeSet::new(),
            named: found.iter().flat_map(|uses| uses.named.iter().cloned()).collect(),
            related: BTreeSet::new(),
            assume: self.config.assume.clone(),
            impossible: self.config.prove.impossible.clone(),
            checks: self.checks.clone(),
            each: None,
            reading: Arc::new(reading),
        };
        self.settle_pools(&mut subject, &trees, &found, &tables);
        self.show_keys(&mut subject, &trees);
        subject
    }

    /// A pair of which there is a function.
    fn ready(&self, name: &str) -> Option<Ready> {
        let signature = self.compiled.signatures.iter().find(|signature| signature.name == name)?;
        let Both { sqlite, pg } = Both::of(|dialect| self.project.tree(name, dialect));
        let texts =
            |dialect: Dialect| self.compiled.texts.iter().filter(move |t| t.name == name && t.dialect == dialect);
        let facing = |text: &EmittedText| texts(Dialect::Pg).find(|other| other.variant == text.variant).cloned();
        let variants: Vec<Both<EmittedText>> =
            texts(Dialect::Sqlite).filter_map(|text| Some(Both { sqlite: text.clone(), pg: facing(text)? })).collect();
        (!variants.is_empty()).then_some(())?;
        Some(Ready {
            noun: signature.noun.clone(),
            cardinality: signature.cardinality,
            params: signature.params.clone(),
            rows: signature.rows.clone(),
            untyped: BTreeSet::new(),
            columns: signature.columns.iter().map(|c| (c.name.clone(), Some(shown(c)))).collect(),
            variants,
            trees: Both { sqlite: sqlite?, pg: pg? },
            is_partial: false,
        })
    }

    /// A statement that SQLite alone has, as a pair with itself: for the databases of the list that makes its calls.
    fn alone(&self, name: &str) -> Option<Subject> {
        let signature = self.compiled.signatures.iter().find(|signature| signature.name == name)?;
        let text = self.compiled.texts.iter().find(|text| text.name == name && text.dialect == Dialect::Sqlite)?;
        let tree = self.project.tree(name, Dialect::Sqlite)?;
        let ready = Ready {
            noun: signature.noun.clone(),
            cardinality: signature.cardinality,
            params: signature.params.clone(),
            rows: None,
            untyped: BTreeSet::new(),
            columns: signature.columns.iter().map(|c| (c.name.clone(), Some(shown(c)))).collect(),
            variants: vec![Both { sqlite: text.clone(), pg: text.clone() }],
            trees: Both { sqlite: tree.clone(), pg: tree },
            is_partial: false,
        };
        let touched = touched(&self.tables(), &ready.trees);
        Some(self.of(name, ready, touched))
    }

    /// A pair of which there is none, because of what was found, whether a baseline knows it or not.
    fn partial(&self, name: &str) -> Option<Ready> {
        let Partial { known: signature, trees, texts, .. } = self.project.partial_signature(name)?;
        Some(Ready {
            noun: texts.sqlite.noun.clone(),
            cardinality: trees.sqlite.cardinality,
            params: signature.params,
            rows: None,
            untyped: signature.untyped,
            columns: signature.columns,
            variants: vec![texts],
            trees,
            is_partial: true,
        })
    }

    fn declared(&self, name: &str) -> Vec<Declared> {
        let annotations = self.project.annotations(name);
        let declared = annotations.filter_map(|annotation| match &annotation.kind {
            AnnotationKind::Diverges { fact, item, fact_span, .. } if fact == "results" => {
                Some(Declared { column: item.clone(), span: *fact_span })
            }
            _ => None,
        });
        declared.collect()
    }

    /// Puts what meets into one pool.
    fn settle_pools(&self, subject: &mut Subject, trees: &Both<Statement>, found: &Both<Uses>, tables: &Tables<'_>) {
        let mut union = Union::default();
        for table in &subject.tables {
            for column in &table.columns {
                union.id(&Key::Column(table.name.clone(), column.name.clone()));
            }
            for key in &table.foreign {
                let parent = subject.tables.iter().find(|other| other.name == key.table);
                let referred = parent.map_or_else(|| key.referred.clone(), |parent| parent.referred(key));
                for (from, to) in key.columns.iter().zip(&referred) {
                    union.join(
                        &Key::Column(table.name.clone(), from.clone()),
                        &Key::Column(key.table.clone(), to.clone()),
                    );
                }
            }
        }
        let given: Vec<String> = subject.given().map(|param| param.name).collect();
        for name in &given {
            union.id(&Key::Param(name.clone()));
        }
        found.iter().flat_map(|uses| &uses.links).for_each(|(a, b)| union.join(a, b));
        // A view shows the columns of its tables under their names.
        for source in trees.iter().flat_map(Statement::sources) {
            let SourceKind::Table(view) = &source.kind else { continue };
            if !tables.is_view(view) {
                continue;
            }
            for base in subject.tables.iter().filter(|table| tables.behind(view).any(|name| *name == table.name)) {
                for (column, _) in
                    source.columns.iter().filter(|(name, _)| base.columns.iter().any(|c| c.name == *name))
                {
                    union.join(
                        &Key::Column(view.clone(), column.clone()),
                        &Key::Column(base.name.clone(), column.clone()),
                    );
                }
            }
        }
        let reading = Arc::clone(&subject.reading);
        let always = self.always(&subject.tables);
        let paths = found.iter().flat_map(|uses| uses.paths.iter()).chain(&self.paths).chain(&reading.paths);
        let paths = paths.chain(&always);
        for key in paths {
            let Key::Json(document, path) = key else { continue };
            let is_here = match &**document {
                Key::Column(table, _) => subject.tables.iter().any(|known| known.name == *table),
                _ => given.iter().any(|name| **document == Key::Param(name.clone())),
            };
            if is_here {
                let (owner, name) = match &**document {
                    Key::Column(table, column) => (table, column),
                    Key::Param(name) => (&subject.name, name),
                    Key::Json(..) => continue,
                };
                if let Some(kind) = self.declared_kind(owner, name, &path.join(".")) {
                    subject.fields.insert(((**document).clone(), path.clone()), kind.to_owned());
                }
                union.id(key);
                subject.paths.entry((**document).clone()).or_default().insert(path.clone());
            }
        }
        // Of a document in which nobody reads a field, some fields may be declared all the same.
        let columns = subject.tables.iter().flat_map(|table| {
            table
                .columns
                .iter()
                .map(|column| (&table.name, &column.name, Key::Column(table.name.clone(), column.name.clone())))
        });
        let params = given.iter().map(|name| (&subject.name, name, Key::Param(name.clone())));
        for (owner, name, key) in columns.chain(params) {
            let is_declared = self.config.prove.is_object(owner, name) || self.config.is_json_object(owner, name);
            if is_declared || subject.named.contains(&key) {
                subject.objects.insert(key.clone());
                // Whoever steps into each of its elements steps into its members.
                if let Some(paths) = subject.paths.get_mut(&key) {
                    paths.retain(|path| path.first().is_none_or(|step| step != "*"));
                }
            }
            if let Some(kind) = self.config.json_list(owner, name) {
                subject.fields.insert((key.clone(), Vec::new()), kind.to_owned());
            }
            for field in super::pool::FIELDS {
                if let Some(kind) = self.declared_kind(owner, name, field) {
                    subject.fields.entry((key.clone(), vec![field.to_owned()])).or_insert_with(|| kind.to_owned());
                }
            }
        }
        subject.related = related(subject, found);
        self.declare_in_common(subject);
        let (pool_of, members) = union.groups();
        subject.pools = members.iter().map(|members| self.pool(subject, members, found)).collect();
        subject.pool_of = pool_of;
    }

    /// The places that no document of a column lacks, whether a page looks there or not.
    fn always(&self, tables: &[Table]) -> Vec<Key> {
        let declared = self.config.json.iter().filter(|(_, kind)| kind.ends_with(ALWAYS));
        let places: BTreeSet<&str> = declared.filter_map(|(key, _)| key.splitn(3, '.').nth(2)).collect();
        let columns =
            tables.iter().flat_map(|table| table.columns.iter().map(move |column| (&table.name, &column.name)));
        let all = columns.flat_map(|column| places.iter().map(move |place| (column, *place)));
        let all = all.filter(|((table, column), place)| {
            self.declared_kind(table, column, place).is_some_and(|kind| kind.ends_with(ALWAYS))
        });
        let key = |((table, column), place): ((&String, &String), &str)| {
            let steps = place.split('.').map(str::to_owned).collect();
            Key::Json(Box::new(Key::Column(table.clone(), column.clone())), steps)
        };
        all.map(key).collect()
    }

    /// What a place of a document holds: as `[prove.fields]` has it, and what the pages are compared under otherwise.
    pub(super) fn declared_kind(&self, owner: &str, name: &str, path: &str) -> Option<&str> {
        self.config.prove.field(owner, name, path).or_else(|| self.config.json_type(owner, name, path))
    }
}

/// The filled tables behind each view that a page reads.
fn views(trees: &Both<Statement>, tables: &Tables<'_>, filled: &[Table]) -> BTreeMap<String, Vec<String>> {
    let named = trees.iter().flat_map(Statement::sources).filter_map(Source::table);
    let of = |view: &str| {
        let behind = filled.iter().filter(|table| tables.behind(view).any(|name| *name == table.name));
        (view.to_owned(), behind.map(|table| table.name.clone()).collect())
    };
    named.filter(|name| tables.is_view(name)).map(of).collect()
}

/// The parameters that hold lists.
fn lists(params: &[Param]) -> BTreeSet<String> {
    params.iter().filter(|param| param.ty.base.is_list()).map(|param| param.name.clone()).collect()
}

/// Whether a key means the same in every statement.
fn stays(key: &Key) -> bool {
    match key {
        Key::Column(..) => true,
        Key::Param(_) => false,
        Key::Json(document, _) => stays(document),
    }
}

/// The type by which the values of a result column are read: how SQLite holds it tells more than the type of the API.
fn shown(column: &ResultColumn) -> Base {
    let stored = column.sqlite.as_ref().and_then(Base::stored).filter(|stored| stored.of.base() == column.ty.base);
    stored.map_or_else(|| column.ty.base.clone(), Base::Stored)
}
