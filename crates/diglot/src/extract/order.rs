//! The order in which a program runs the texts that shape its tables.
//!
//! A function runs what it says and what the functions that it calls say, one behind the other. Functions that nobody calls
//! run as they stand, those whose names differ by a number in its order; and what needs a table waits until that is made.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use super::literal::Kind;

/// A text of a schema.
pub(super) struct Shaping<'f> {
    /// The token with which it begins.
    pub(super) at: usize,
    /// The function that it stands in.
    pub(super) function: Option<usize>,
    /// The constant that it is given to outside of functions.
    pub(super) constant: Option<&'f str>,
    pub(super) sql: &'f str,
}

/// The places of the texts in the order in which they run, without those that change nothing there.
pub(super) fn in_order(code: &Code<'_>, texts: &[Shaping<'_>]) -> Vec<usize> {
    let steps: Vec<Vec<Step>> = texts.iter().map(|text| steps(text.sql)).collect();
    let mut runs = Runs { code, texts, taken: BTreeSet::new() }.all();
    let (mut known, mut ordered) = (Tables::default(), Vec::new());
    let made: BTreeSet<&str> = steps.iter().flatten().filter_map(Step::makes).collect();
    while !runs.is_empty() {
        let waits = |text: usize| known.lacks(&steps[text], &made);
        let next = runs.iter().position(|run| !waits(run[0])).unwrap_or(0);
        let run = &mut runs[next];
        // What follows in the same run goes on until something is missing.
        loop {
            let text = run.remove(0);
            if known.changes(&steps[text]) {
                known.take(&steps[text]);
                ordered.push(text);
            }
            if run.first().is_none_or(|text| known.lacks(&steps[*text], &made)) {
                break;
            }
        }
        runs.retain(|run| !run.is_empty());
    }
    ordered
}

/// The files of a schema in an order in which each finds the tables that it needs, as far as others make them.
pub(super) fn of_files<T>(files: Vec<(T, &str)>) -> Vec<T> {
    let all: Vec<Vec<Step>> = files.iter().map(|(_, text)| steps(text)).collect();
    let made: BTreeSet<&str> = all.iter().flatten().filter_map(Step::makes).collect();
    let mut known = Tables::default();
    let mut rest: Vec<(T, &Vec<Step>)> = files.into_iter().map(|(file, _)| file).zip(&all).collect();
    let mut ordered = Vec::new();
    while !rest.is_empty() {
        let next = rest.iter().position(|(_, steps)| !known.lacks(steps, &made)).unwrap_or(0);
        let (file, steps) = rest.remove(next);
        known.take(steps);
        ordered.push(file);
    }
    ordered
}

/// What runs behind each other.
struct Runs<'c, 't> {
    code: &'c Code<'c>,
    texts: &'t [Shaping<'t>],
    taken: BTreeSet<usize>,
}

impl Runs<'_, '_> {
    fn all(mut self) -> Vec<Vec<usize>> {
        let functions = 0..self.code.functions.len();
        let calls: Vec<BTreeSet<usize>> = functions.clone().map(|function| self.calls(function)).collect();
        let says = |function: usize| self.texts.iter().any(|text| text.function == Some(function));
        let mut reaches: BTreeSet<usize> = functions.clone().filter(|function| says(*function)).collect();
        loop {
            let more: Vec<usize> = functions
                .clone()
                .filter(|function| !reaches.contains(function) && !calls[*function].is_disjoint(&reaches))
                .collect();
            if more.is_empty() {
                break;
            }
            reaches.extend(more);
        }
        let called: BTreeSet<usize> = reaches.iter().flat_map(|function| calls[*function].iter().copied()).collect();
        let mut runs: Vec<(String, Vec<usize>)> = Vec::new();
        let first = reaches.iter().filter(|function| !called.contains(function));
        // Of functions that call each other none is the first.
        for function in first.chain(&reaches) {
            let mut run = Vec::new();
            self.run(*function, &mut BTreeSet::new(), &mut run);
            runs.push((self.code.functions[*function].name.clone(), run));
        }
        for (index, text) in self.texts.iter().enumerate() {
            if self.taken.insert(index) {
                runs.push((text.constant.unwrap_or_default().to_owned(), vec![index]));
            }
        }
        runs.retain(|(_, run)| !run.is_empty());
        runs.sort_by_key(|(_, run)| run[0]);
        numbered(runs)
    }

    /// The functions of the file that a function calls.
    fn calls(&self, function: usize) -> BTreeSet<usize> {
        let body = self.code.functions[function].body.clone();
        body.filter(|at| self.code.function_of(*at) == Some(function))
            .flat_map(|at| self.called(at))
            .filter(|called| *called != function)
            .collect()
    }

    /// The functions that a call may mean.
    fn called(&self, at: usize) -> Vec<usize> {
        if !self.code.is(at, Kind::Word) || self.code.word(at + 1) != "(" {
            return Vec::new();
        }
        let all = self.code.functions.iter().enumerate();
        all.filter(|(_, function)| function.name == self.code.word(at)).map(|(index, _)| index).collect()
    }

    /// What a function runs that is not taken yet.
    fn run(&mut self, function: usize, around: &mut BTreeSet<usize>, run: &mut Vec<usize>) {
        if !around.insert(function) {
            return;
        }
        for at in self.code.functions[function].body.clone() {
            if self.code.function_of(at) != Some(function) {
                continue;
            }
            let is_here = |text: &Shaping<'_>| match text.constant.filter(|_| text.function.is_none()) {
                Some(name) => self.code.is(at, Kind::Word) && self.code.word(at) == name,
                None => text.at == at,
            };
            let here: Vec<usize> = (0..self.texts.len()).filter(|index| is_here(&self.texts[*index])).collect();
            run.extend(here.into_iter().filter(|index| self.taken.insert(*index)));
            for called in self.called(at) {
                self.run(called, around, run);
            }
        }
    }
}

/// Runs whose names differ by a number alone, in its order, in the places that these have.
fn numbered(runs: Vec<(String, Vec<usize>)>) -> Vec<Vec<usize>> {
    let number = |name: &str| {
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, (name, _)) in runs.iter().enumerate().filter(|(_, (name, _))| number(name).is_some()) {
        places.entry(name.replace(|c: char| c.is_ascii_digit(), "")).or_default().push(index);
    }
    let mut ordered: Vec<usize> = (0..runs.len()).collect();
    for places in places.into_values() {
        let mut own = places.clone();
        own.sort_by_key(|index| number(&runs[*index].0));
        places.into_iter().zip(own).for_each(|(place, index)| ordered[place] = index);
    }
    ordered.into_iter().map(|index| runs[index].1.clone()).collect()
}

/// What a statement of a schema does, as far as that says when it can run.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// It makes a table with these columns, as far as they are written out.
    Make {
        table: String,
        columns: Vec<String>,
        is_guarded: bool,
    },
    Rename {
        table: String,
        new: String,
    },
    Drop {
        table: String,
    },
    /// It adds a column, takes one out, or gives it another name.
    Add {
        table: String,
        column: String,
    },
    Remove {
        table: String,
        column: String,
    },
    Call {
        table: String,
        column: String,
        new: String,
    },
    /// It needs the table.
    Need {
        table: String,
    },
}

impl Step {
    fn makes(&self) -> Option<&str> {
        match self {
            Self::Make { table, .. } | Self::Rename { new: table, .. } => Some(table),
            _ => None,
        }
    }
}

/// The tables that are there, with the columns that are known of them.
#[derive(Default)]
struct Tables {
    columns: BTreeMap<String, Vec<String>>,
}

impl Tables {
    /// Whether a table is missing that a text needs and another one makes.
    fn lacks(&self, steps: &[Step], made: &BTreeSet<&str>) -> bool {
        let mut own: BTreeSet<&str> = BTreeSet::new();
        steps.iter().any(|step| {
            let needs = match step {
                Step::Make { .. } => None,
                Step::Rename { table, .. }
                | Step::Drop { table }
                | Step::Add { table, .. }
                | Step::Remove { table, .. }
                | Step::Call { table, .. }
                | Step::Need { table } => Some(table.as_str()),
            };
            own.extend(step.makes());
            needs.is_some_and(|table| made.contains(table) && !own.contains(table) && !self.columns.contains_key(table))
        })
    }

    /// Whether a text changes anything. A program that asks first, or passes over a refusal, has it for older tables.
    fn changes(&self, steps: &[Step]) -> bool {
        let [step] = steps else { return true };
        let known = |table: &String| self.columns.get(table).filter(|columns| !columns.is_empty());
        match step {
            Step::Add { table, column } => known(table).is_none_or(|columns| !columns.contains(column)),
            Step::Remove { table, column } => known(table).is_none_or(|columns| columns.contains(column)),
            Step::Call { table, column, new } => {
                known(table).is_none_or(|columns| columns.contains(column) || !columns.contains(new))
            }
            _ => true,
        }
    }

    fn take(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Make { table, columns, is_guarded } => {
                    if !(*is_guarded && self.columns.contains_key(table)) {
                        self.columns.insert(table.clone(), columns.clone());
                    }
                }
                Step::Rename { table, new } => {
                    let columns = self.columns.remove(table).unwrap_or_default();
                    self.columns.insert(new.clone(), columns);
                }
                Step::Drop { table } => _ = self.columns.remove(table),
                Step::Add { table, column } => {
                    self.columns.entry(table.clone()).or_default().push(column.clone());
                }
                Step::Remove { table, column } => {
                    self.columns.entry(table.clone()).or_default().retain(|known| known != column);
                }
                Step::Call { table, column, new } => {
                    let columns = self.columns.entry(table.clone()).or_default();
                    columns.iter_mut().filter(|known| *known == column).for_each(|known| known.clone_from(new));
                }
                Step::Need { .. } => {}
            }
        }
    }
}

/// What the statements of a text do.
fn steps(text: &str) -> Vec<Step> {
    words(text).split(|word| word == ";").flat_map(step).collect()
}

/// The words and signs of a text, names without their quotes and in lower case; comments and texts are left out.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '\'' => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '"' | '`' | '[' => {
                let close = if first == '[' { ']' } else { first };
                let end = rest[1..].find(close).map_or(rest.len(), |end| end + 2);
                words.push(rest[1..end].trim_end_matches(close).to_lowercase());
                end
            }
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                words.push(rest[..end].to_lowercase());
                end
            }
            c if c.is_whitespace() => c.len_utf8(),
            c => {
                words.push(c.to_string());
                c.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    words
}

fn step(words: &[String]) -> Vec<Step> {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let over = |from: usize, passed: &[&str]| (from..words.len()).find(|at| !passed.contains(&word(*at)));
    // A name may have the schema before it.
    let name = |at: usize| if word(at + 1) == "." { at + 2 } else { at };
    let kinds = [
        "temp",
        "temporary",
        "unlogged",
        "virtual",
        "materialized",
        "global",
        "local",
        "or",
        "replace",
        "unique",
        "recursive",
        "constraint",
    ];
    match word(0) {
        "create" => {
            let Some(kind) = over(1, &kinds) else { return Vec::new() };
            if ["table", "view"].contains(&word(kind)) {
                let Some(table) = over(kind + 1, &["if", "not", "exists"]).map(name) else { return Vec::new() };
                let is_guarded = word(kind + 1) == "if";
                let made =
                    Step::Make { table: word(table).to_owned(), columns: columns(&words[table + 1..]), is_guarded };
                let referred = (table..words.len()).filter(|at| word(*at) == "references" && word(kind) == "table");
                let needed = referred.map(|at| word(name(at + 1)).to_owned()).filter(|other| other != word(table));
                return needed.map(|table| Step::Need { table }).chain([made.clone()]).collect();
            }
            let on = (kind..words.len()).find(|at| word(*at) == "on" && ["index", "trigger"].contains(&word(kind)));
            let table = on.and_then(|on| over(on + 1, &["only"])).map(name);
            table.map(|table| Step::Need { table: word(table).to_owned() }).into_iter().collect()
        }
        "drop" if word(1) == "table" && word(2) != "if" => vec![Step::Drop { table: word(name(2)).to_owned() }],
        "alter" if word(1) == "table" && word(2) != "if" => {
            let Some(at) = over(2, &["only"]).map(name) else { return Vec::new() };
            altered(word(at), &words[at + 1..])
        }
        _ => Vec::new(),
    }
}

/// What stands behind ALTER TABLE and the table's name.
fn altered(table: &str, words: &[String]) -> Vec<Step> {
    let table = table.to_owned();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let behind = |from: usize| {
        let passed = ["column", "if", "not", "exists"];
        (from..words.len()).find(|at| !passed.contains(&word(*at))).map_or_else(String::new, |at| word(at).to_owned())
    };
    let constraints = ["constraint", "primary", "unique", "check", "foreign", "exclude"];
    let mut depth = 0_i32;
    let is_one = !words.iter().any(|word| {
        depth += i32::from(word == "(") - i32::from(word == ")");
        depth == 0 && word == ","
    });
    match (word(0), word(1)) {
        ("rename", "to") => vec![Step::Rename { table, new: word(2).to_owned() }],
        ("rename", "constraint") => vec![Step::Need { table }],
        ("rename", _) => {
            let to = words.iter().position(|word| word == "to").unwrap_or(words.len());
            vec![Step::Call { table, column: behind(1), new: word(to + 1).to_owned() }]
        }
        ("add", second) if is_one && !constraints.contains(&second) => vec![Step::Add { table, column: behind(1) }],
        ("drop", second) if is_one && !constraints.contains(&second) => vec![Step::Remove { table, column: behind(1) }],
        _ => vec![Step::Need { table }],
    }
}

/// The columns between the brackets behind the name of a table.
fn columns(words: &[String]) -> Vec<String> {
    const CONSTRAINTS: [&str; 7] = ["constraint", "primary", "unique", "check", "foreign", "exclude", "like"];
    let (mut columns, mut depth, mut is_first) = (Vec::new(), 0_usize, false);
    for word in words {
        match word.as_str() {
            "(" => {
                depth += 1;
                is_first |= depth == 1;
                continue;
            }
            ")" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            "," if depth == 1 => {
                is_first = true;
                continue;
            }
            word if depth == 1 && is_first && !CONSTRAINTS.contains(&word) => columns.push(word.to_owned()),
            _ if depth == 0 => break,
            _ => {}
        }
        is_first = false;
    }
    columns
}

#[cfg(test)]
mod tests {
    use crate::dialect::Dialect;
    use crate::extract::read;
    use crate::source::{Role, Sources};

    /// The tables that a file leaves with their columns, and what is found.
    fn schema(path: &str, text: &str) -> (Vec<String>, Vec<String>) {
        let mut sources = Sources::default();
        let file = sources.add(read(path, text, Role::Schema));
        let (schema, found) = crate::schema::read(&sources, &[file], Dialect::Sqlite);
        let columns = |table: &crate::schema::Table| {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
            format!("{}: {}", table.name, names.join(" "))
        };
        let said = found.into_iter().map(|finding| finding.message).collect();
        (schema.tables.values().map(columns).collect(), said)
    }

    #[test]
    fn what_needs_a_table_waits_for_the_function_that_makes_it() {
        let rust = r#"
fn add_bay(db: &Db) { db.run("ALTER TABLE lot ADD COLUMN bay TEXT"); db.run("CREATE INDEX lot_bay ON lot (bay)"); }
fn begin(db: &Db) { db.run("CREATE TABLE lot (id INTEGER PRIMARY KEY)"); }
"#;
        assert_eq!(schema("lot.rs", rust), (vec!["lot: id bay".to_owned()], Vec::new()));
    }

    #[test]
    fn calls_and_numbers_say_the_order() {
        let go = "package lot\n\nfunc step10(db DB) { db.Run(\"ALTER TABLE lot ADD COLUMN late TEXT\") }\n\
            func step9(db DB) { db.Run(\"ALTER TABLE lot RENAME COLUMN bay TO late_bay\") }\n\
            func older(db DB) {\n\tmake(db)\n\tdb.Run(`ALTER TABLE lot ADD COLUMN bay TEXT`)\n}\n\
            func make(db DB) { db.Run(made) }\nconst made = `CREATE TABLE lot (id TEXT, CHECK (id <> ''))`\n";
        assert_eq!(schema("lot.go", go), (vec!["lot: id late_bay late".to_owned()], Vec::new()));
    }

    #[test]
    fn what_older_tables_lack_is_there_already() {
        let rust = r#"
const LOT: &str = "CREATE TABLE IF NOT EXISTS lot (id INTEGER PRIMARY KEY, bay TEXT);";
fn upgrade(db: &Db) {
    if !db.has("bay") { db.run("ALTER TABLE lot ADD COLUMN bay TEXT"); }
    db.run_or_pass("ALTER TABLE lot DROP COLUMN old");
}
"#;
        assert_eq!(schema("lot.rs", rust), (vec!["lot: id bay".to_owned()], Vec::new()));
    }

    #[test]
    fn a_schema_that_the_program_names_is_no_part_of_the_tables() {
        let rust = r#"
fn begin(db: &Db, own: &str) {
    db.run(&format!("CREATE SCHEMA IF NOT EXISTS \"{own}\"; CREATE TABLE \"{own}\".lot (id BIGINT); CREATE INDEX lot_id ON \"{own}\".lot (id);"));
}
"#;
        assert_eq!(schema("lot.rs", rust), (vec!["lot: id".to_owned()], Vec::new()));
    }

    #[test]
    fn what_nothing_makes_is_told() {
        let rust = r#"fn upgrade(db: &Db) { db.run("ALTER TABLE lot ADD COLUMN bay TEXT"); }"#;
        assert_eq!(schema("lot.rs", rust), (Vec::new(), vec!["lot.rs (SQLite): there is no table `lot`".to_owned()]));
    }

    #[test]
    fn files_wait_for_each_other() {
        let files = vec![
            (1, "CREATE INDEX lot_bay ON lot (bay)"),
            (2, "CREATE TABLE bay (id TEXT REFERENCES depot (id))"),
            (3, "CREATE TABLE lot (bay TEXT)"),
            (4, "ALTER TABLE elsewhere ADD COLUMN x TEXT; CREATE TABLE depot (id TEXT)"),
        ];
        assert_eq!(super::of_files(files), [3, 1, 4, 2]);
    }
}
