//! What an engine knows of its own words, as its catalogs have it.
//!
//! `pg-MAJOR.txt` and `sqlite-VERSION.txt` are data that `cargo diglot catalog` writes; nobody edits them. The oldest
//! major of Postgres is written out, later ones as what they say otherwise. [`resolve`] decides by Postgres's rules which
//! operator or function a text means, and whether there is one; [`majors`] asks all majors that a project runs on.

mod majors;
mod resolve;
mod sqlite;

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

pub(crate) use majors::Majors;
pub(crate) use resolve::Refusal;
pub(crate) use sqlite::sqlite;

/// The oldest major that is supported, word for word.
const OLDEST: &str = include_str!("pg-15.txt");

/// What each major says otherwise: `-` stands before a line that it does not have, `+` before one that the oldest lacks.
const OTHERWISE: [&str; MAJORS.len()] =
    ["", include_str!("pg-16.txt"), include_str!("pg-17.txt"), include_str!("pg-18.txt")];

/// The majors of Postgres that are known, from the oldest.
pub const MAJORS: [u16; 4] = [15, 16, 17, 18];

/// A type that nothing is known of yet: a text literal, NULL.
pub(crate) const UNKNOWN: &str = "unknown";

/// Where a cast is made without being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Only where it is written.
    Written,
    /// Also where a value goes into a column.
    Assigned,
    /// In any expression.
    Anywhere,
}

/// How long a function gives the same for the same arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stability {
    /// For ever: IMMUTABLE.
    Immutable,
    /// As long as a statement runs: STABLE.
    Stable,
    /// Not even that long: VOLATILE.
    Volatile,
}

/// A word of Postgres that is not IMMUTABLE.
#[derive(Debug)]
struct Moving {
    signature: Signature,
    stability: Stability,
}

/// A type of Postgres.
#[derive(Debug)]
struct Kind {
    category: char,
    is_preferred: bool,
    is_pseudo: bool,
    /// The type of an array's elements.
    element: Option<&'static str>,
}

/// What an operator or a function takes and gives.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Signature {
    takes: Vec<&'static str>,
    /// How many of the last arguments may be left out.
    defaults: usize,
    /// The type of the elements that the last argument stands for any number of.
    variadic: Option<&'static str>,
    gives: &'static str,
}

/// The words of one major of Postgres.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    types: HashMap<&'static str, Kind>,
    casts: HashMap<(&'static str, &'static str), Reach>,
    operators: HashMap<&'static str, Vec<Signature>>,
    functions: HashMap<&'static str, Vec<Signature>>,
    /// By what they are and their name.
    moving: HashMap<(Word, &'static str), Vec<Moving>>,
    /// The names of which it says something else than the oldest major. Of all others it is that one's catalog that
    /// speaks, and this one holds nothing.
    otherwise: HashSet<&'static str>,
    oldest: Option<&'static Catalog>,
}

/// What a word of Postgres is that may not be IMMUTABLE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Word {
    Function,
    Operator,
    /// A cast from the type of that name.
    Cast,
    /// How values of the type of that name are written as text, and read from it.
    Writing,
}

/// The catalog of the oldest supported Postgres.
pub(crate) fn postgres() -> &'static Catalog {
    catalog(0)
}

/// The catalog of the major in that place of [`MAJORS`].
fn catalog(place: usize) -> &'static Catalog {
    static READ: [OnceLock<Catalog>; MAJORS.len()] = [const { OnceLock::new() }; MAJORS.len()];
    READ[place].get_or_init(|| match place {
        0 => Catalog::read(lines(OLDEST)),
        _ => Catalog::later(catalog(0), OTHERWISE[place]),
    })
}

/// The lines of a file's sections, each with the title of its section.
fn lines(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut section = "";
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("-- ")).filter_map(move |line| {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(title) => {
                section = title;
                None
            }
            None => Some((section, line)),
        }
    })
}

impl Catalog {
    /// A later major: the lines about the names of which it says something else.
    fn later(oldest: &'static Self, otherwise: &'static str) -> Self {
        let (mut more, mut less, mut names) = (Vec::new(), HashSet::new(), HashSet::new());
        for (section, line) in lines(otherwise) {
            if let Some(line) = line.strip_prefix("- ") {
                less.insert((section, line));
            } else if let Some(line) = line.strip_prefix("+ ") {
                more.push((section, line));
            }
            names.extend(line.split(' ').nth(1));
        }
        let is_about = |line: &str| line.split(' ').next().is_some_and(|name| names.contains(name));
        let own = lines(OLDEST).filter(|(section, line)| is_about(line) && !less.contains(&(*section, *line)));
        let catalog = Self::read(own.chain(more));
        Self { otherwise: names, oldest: Some(oldest), ..catalog }
    }

    /// The catalog that speaks of a name.
    fn of(&self, name: &str) -> &Self {
        self.oldest.filter(|_| !self.otherwise.contains(name)).unwrap_or(self)
    }

    fn read(lines: impl Iterator<Item = (&'static str, &'static str)>) -> Self {
        let mut catalog = Self::default();
        for (section, line) in lines {
            let words: Vec<&str> = line.split(' ').collect();
            match (section, words.as_slice()) {
                ("types", [name, category, preferred, kind, element @ ..]) => {
                    let kind = Kind {
                        category: category.chars().next().unwrap_or('X'),
                        is_preferred: *preferred == "y",
                        is_pseudo: *kind == "p",
                        element: element.first().copied(),
                    };
                    catalog.types.insert(name, kind);
                }
                ("casts", [from, to, context]) => {
                    let reach = match *context {
                        "i" => Reach::Anywhere,
                        "a" => Reach::Assigned,
                        _ => Reach::Written,
                    };
                    catalog.casts.insert((from, to), reach);
                }
                ("operators", [name, left, right, gives]) => {
                    let takes = [*left, *right].into_iter().filter(|side| *side != "-").collect();
                    let signature = Signature { takes, defaults: 0, variadic: None, gives };
                    catalog.operators.entry(name).or_default().push(signature);
                }
                ("functions", [name, _, takes, defaults, variadic, _, gives]) => {
                    let signature = Signature {
                        takes: takes.split(',').filter(|word| *word != "-").collect(),
                        defaults: defaults.parse().unwrap_or_default(),
                        variadic: Some(*variadic).filter(|word| *word != "-"),
                        gives,
                    };
                    catalog.functions.entry(name).or_default().push(signature);
                }
                ("moving", [name, word, takes, defaults, variadic, stability]) => {
                    let word = match *word {
                        "f" => Word::Function,
                        "o" => Word::Operator,
                        "c" => Word::Cast,
                        _ => Word::Writing,
                    };
                    let stability = if *stability == "v" { Stability::Volatile } else { Stability::Stable };
                    let takes = takes.split(',').filter(|word| *word != "-").collect();
                    let variadic = Some(*variadic).filter(|word| *word != "-");
                    let defaults = defaults.parse().unwrap_or_default();
                    let signature = Signature { takes, defaults, variadic, gives: UNKNOWN };
                    catalog.moving.entry((word, name)).or_default().push(Moving { signature, stability });
                }
                _ => {}
            }
        }
        catalog
    }

    /// How long a function gives the same.
    pub(crate) fn stability(&self, name: &str, arguments: &[&str]) -> Stability {
        self.moves(Word::Function, name, arguments)
    }

    /// How long the least stable function of that name gives the same.
    pub(crate) fn least_stable(&self, name: &str) -> Stability {
        let moving = self.of(name).moving.get(&(Word::Function, name)).into_iter().flatten();
        moving.map(|moving| moving.stability).max().unwrap_or(Stability::Immutable)
    }

    /// How long an operator gives the same.
    pub(crate) fn stability_of_operator(&self, name: &str, operands: &[&str]) -> Stability {
        // What is not known beside an operator is as the other operand is.
        match operands {
            [left, right] if *left == UNKNOWN => self.moves(Word::Operator, name, &[right, right]),
            [left, right] if *right == UNKNOWN => self.moves(Word::Operator, name, &[left, left]),
            _ => self.moves(Word::Operator, name, operands),
        }
    }

    /// How long a cast gives the same.
    pub(crate) fn stability_of_cast(&self, from: &str, to: &str) -> Stability {
        let by_text = |name: &str, other: &str| {
            let is_written = self.of(name).moving.contains_key(&(Word::Writing, name));
            is_written && self.is_text(other)
        };
        match by_text(from, to) || by_text(to, from) {
            true => Stability::Stable,
            false => self.moves(Word::Cast, from, &[to]),
        }
    }

    /// Whether there is a function of that name, whatever it takes.
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.of(name).functions.contains_key(name)
    }

    /// Whether a call by that name is a cast.
    pub(crate) fn has_type(&self, name: &str) -> bool {
        self.of(name).types.contains_key(name)
    }

    /// The operator that stands between two values, or before one: what it gives.
    ///
    /// # Errors
    /// Says why there is none.
    pub(crate) fn operator(&self, name: &str, operands: &[&str]) -> Result<&'static str, Refusal> {
        let candidates = self.of(name).operators.get(name).map_or(&[][..], Vec::as_slice);
        self.chosen(candidates, operands, true)
    }

    /// The function that a call means: what it gives.
    ///
    /// # Errors
    /// Says why there is none.
    pub(crate) fn function(&self, name: &str, arguments: &[&str]) -> Result<&'static str, Refusal> {
        let candidates = self.of(name).functions.get(name).map_or(&[][..], Vec::as_slice);
        self.chosen(candidates, arguments, false)
    }

    /// Whether a value of one type becomes one of another where casts reach that far.
    pub(crate) fn casts(&self, from: &str, to: &str, reach: Reach) -> bool {
        if from == to || from == UNKNOWN {
            return true;
        }
        if self.of(from).casts.get(&(from, to)).is_some_and(|known| *known >= reach) {
            return true;
        }
        match (self.element(from), self.element(to)) {
            (Some(from), Some(to)) => self.casts(from, to, reach),
            // Every value can be written as text, and read from it, where a cast is written; a column of text takes
            // any value.
            _ if self.is_text(to) => reach <= Reach::Assigned,
            _ if self.is_text(from) => reach == Reach::Written,
            _ => false,
        }
    }

    fn is_text(&self, name: &str) -> bool {
        self.of(name).types.get(name).is_some_and(|kind| kind.category == 'S' && name != "char")
    }

    fn element(&self, name: &str) -> Option<&'static str> {
        self.of(name).types.get(name).filter(|kind| kind.category == 'A').and_then(|kind| kind.element)
    }
}

#[cfg(test)]
mod tests;
