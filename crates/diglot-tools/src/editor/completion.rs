//! What may be written at a place.

use std::collections::BTreeSet;
use std::ops::Range;

use super::hover::param_line;
use super::scope::{Relation, follows_table_word, name, word_before};
use super::spot::Spot;
use diglot::dialect::Dialect;
use diglot::facts;
use diglot::page::AnnotationKind;
use diglot::rules;
use diglot::split::lexer::Kind;
use diglot::types::{Base, Type};

/// What can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What is shown and, unless `text` says otherwise, written.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// A word about it, such as its type.
    pub detail: String,
    /// The bytes that it takes the place of.
    pub replaces: Range<usize>,
    /// What is written.
    pub text: String,
}

/// What a completion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionKind {
    /// A table, a view or a CTE.
    Table,
    /// A column.
    Column,
    /// A parameter of the statement.
    Param,
    /// A word of an annotation.
    Word,
}

/// The annotations, each as far as it is always the same, with what it says.
const ANNOTATIONS: [(&str, &str); 18] = [
    ("name: ", "the header: `-- name: noun_verb :one`"),
    ("param: ", "the type of a parameter"),
    ("column: ", "the type of a column of the result"),
    ("diverges(", "the pages differ here, and why"),
    ("allow(", "a lint does not apply here, and why"),
    ("only: ", "the statement is for one dialect, and why"),
    ("each: ", "the statement does for each of its rows what that one does on the facing page"),
    ("both", "the facing page has the statement in the same words"),
    ("transaction: ", "it runs in that transaction"),
    ("if: ", "from here to `-- end` if the parameter is given"),
    ("order: ", "from here to the next one or `-- end` if the caller chooses that order"),
    ("end", "ends what `-- if:` or `-- order:` began"),
    ("page: ", "the statement gives a page that begins behind the key of a row"),
    ("rows: ", "the statement takes a list of rows: `-- rows: NAME(FIELD TYPE, …)`"),
    ("part: ", "begins what several statements share"),
    ("use: ", "the statement has that shared part"),
    ("require: ", "the statement does something only if that CTE has a row"),
    ("returns", "of several statements, the next one gives the rows"),
];

/// How many rows a statement gives.
const CARDINALITIES: [(&str, &str); 6] = [
    (":one", "exactly one row"),
    (":opt", "one row or none"),
    (":many", "all rows"),
    (":exec", "nothing"),
    (":rows", "how many rows were written"),
    (":stream", "rows as they come"),
];

pub(super) fn completions(spot: &Spot<'_>) -> Vec<Completion> {
    let line = spot.text[..spot.offset].rsplit('\n').next().unwrap_or_default();
    let inside = spot.tokens.iter().find(|token| token.start < spot.offset && spot.offset <= token.end);
    if let Some(body) = line.trim_start().strip_prefix("--")
        && inside.is_none_or(|token| token.kind == Kind::LineComment)
    {
        return in_comment(spot, body);
    }
    if inside.is_some_and(|token| {
        matches!(token.kind, Kind::LineComment | Kind::BlockComment | Kind::Text)
            && (spot.offset < token.end || !token.closed)
    }) {
        return Vec::new();
    }
    let word = word_before(spot.text, spot.offset);
    let before = &spot.text[..word.start];
    if before.ends_with("::") {
        return Vec::new();
    }
    if before.ends_with([':', '@']) {
        return params(spot, &word);
    }
    if before.ends_with('.') {
        let owner = word_before(spot.text, word.start - 1);
        return of_owner(spot, &spot.text[owner].to_lowercase(), &word);
    }
    in_code(spot, &word)
}

/// Makes completions that take the place of a word.
struct Maker {
    replaces: Range<usize>,
    made: Vec<Completion>,
}

impl Maker {
    fn new(replaces: &Range<usize>) -> Self {
        Self { replaces: replaces.clone(), made: Vec::new() }
    }

    fn add(&mut self, label: impl Into<String>, kind: CompletionKind, detail: impl Into<String>) {
        let label = label.into();
        if !self.made.iter().any(|known| known.label == label && known.kind == kind) {
            let (replaces, text) = (self.replaces.clone(), label.clone());
            self.made.push(Completion { label, kind, detail: detail.into(), replaces, text });
        }
    }
}

/// In a comment, behind its dashes.
fn in_comment(spot: &Spot<'_>, body: &str) -> Vec<Completion> {
    let body = body.trim_start();
    let word_start = body.rfind([' ', '(', ':']).map_or(0, |at| at + 1);
    let replaces = spot.offset - (body.len() - word_start)..spot.offset;
    let mut maker = Maker::new(&replaces);
    let behind = |word: &str| body.strip_prefix(word).map(str::trim_start);
    let is_second = |rest: &str| rest.contains(char::is_whitespace);
    if let Some(rest) = behind("name:") {
        if is_second(rest) {
            maker.replaces.start -= usize::from(spot.text[..maker.replaces.start].ends_with(':'));
            CARDINALITIES.iter().for_each(|(word, about)| maker.add(*word, CompletionKind::Word, *about));
        } else {
            faceless(spot)
                .into_iter()
                .for_each(|name| maker.add(name, CompletionKind::Word, "stands on the facing page"));
        }
    } else if let Some(rest) = behind("param:").or(behind("column:")).filter(|rest| is_second(rest)) {
        types(rest, &mut maker);
    } else if behind("param:").is_some() || behind("if:").is_some() {
        return params(spot, &replaces);
    } else if behind("column:").is_some() {
        results(spot).into_iter().for_each(|(name, detail)| maker.add(name, CompletionKind::Column, detail));
    } else if behind("only:").is_some_and(|rest| !is_second(rest)) {
        Dialect::ALL.iter().for_each(|dialect| maker.add(dialect.word(), CompletionKind::Word, dialect.title()));
    } else if behind("transaction:").is_some() {
        transactions(spot).into_iter().for_each(|name| maker.add(name, CompletionKind::Word, "a transaction"));
    } else if let Some(rest) = behind("use:") {
        let own = spot.pages.iter().filter(|page| page.dialect == spot.dialect).flat_map(|page| &page.shared);
        match rest.split_once('(') {
            Some((name, _)) => {
                for param in own.filter(|part| part.name == name.trim()).flat_map(|part| &part.takes) {
                    let what = if param.is_value { "a value" } else { "the name of a CTE or table" };
                    maker.add(&param.name, CompletionKind::Word, what);
                }
            }
            None => own.for_each(|part| maker.add(&part.name, CompletionKind::Word, "a shared part")),
        }
    } else if behind("require:").is_some() {
        ctes(spot).into_iter().for_each(|cte| maker.add(cte, CompletionKind::Word, "CTE of this statement"));
    } else if behind("allow(").is_some_and(|rest| !rest.contains(')')) {
        for rule in rules::allowed().filter_map(rules::find) {
            maker.add(rule.name, CompletionKind::Word, rule.summary);
        }
    } else if behind("diverges(").is_some_and(|rest| !rest.contains(')')) {
        for (_, word, _, about) in facts::Kind::ALL {
            maker.add(word, CompletionKind::Word, format!("the pages differ in {about}"));
        }
    } else if !body.contains([' ', '(', ':']) {
        for (word, about) in ANNOTATIONS {
            maker.add(word.trim_end_matches([' ', '(']), CompletionKind::Word, about);
            if let Some(made) = maker.made.last_mut() {
                made.text = format!("{}{word}", if spot.text[..replaces.start].ends_with("--") { " " } else { "" });
            }
        }
    }
    maker.made
}

fn types(rest: &str, maker: &mut Maker) {
    if rest.split_whitespace().count() > 1 && rest.ends_with(char::is_whitespace) || rest.split_whitespace().count() > 2
    {
        maker.add("null", CompletionKind::Word, "may be NULL");
        return;
    }
    for word in diglot::page::TYPE_WORDS.split(' ') {
        let about = Base::from_word(word).map(|base| Type::required(base).to_string()).unwrap_or_default();
        maker.add(word, CompletionKind::Word, about);
    }
}

/// Names that the other page of this noun has and this one has not.
fn faceless(spot: &Spot<'_>) -> Vec<String> {
    let Some(page) = spot.pages.iter().find(|page| page.file == spot.file) else { return Vec::new() };
    let facing = spot.pages.iter().filter(|other| other.dialect != page.dialect && other.noun == page.noun);
    let names = facing.flat_map(|other| &other.statements).map(|raw| raw.name.clone());
    names.filter(|name| page.statements.iter().all(|raw| raw.name != *name)).collect()
}

/// The columns of the result, as far as they are known.
fn results(spot: &Spot<'_>) -> Vec<(String, String)> {
    let Some(opened) = &spot.opened else { return Vec::new() };
    let tree = [spot.dialect, spot.dialect.other()].into_iter().filter_map(|dialect| opened.trees[dialect].as_ref());
    let columns = tree.into_iter().map(|tree| tree.columns()).find(|columns| !columns.is_empty()).unwrap_or_default();
    columns.into_iter().map(|(name, ty)| (name, shown(ty.as_ref()))).collect()
}

fn shown(ty: Option<&Type>) -> String {
    ty.map(Type::to_string).unwrap_or_default()
}

/// The transactions that the settings or other statements name.
fn transactions(spot: &Spot<'_>) -> BTreeSet<String> {
    let annotations = spot.pages.iter().flat_map(|page| &page.statements).flat_map(|raw| &raw.annotations);
    let named = annotations.filter_map(|annotation| match &annotation.kind {
        AnnotationKind::Transaction { name } => Some(name.clone()),
        _ => None,
    });
    named.chain(spot.inputs.config.transactions.keys().chain(spot.inputs.transactions.keys()).cloned()).collect()
}

/// The parameters of the statement on either page.
fn params(spot: &Spot<'_>, replaces: &Range<usize>) -> Vec<Completion> {
    let mut maker = Maker::new(replaces);
    let Some(opened) = &spot.opened else { return Vec::new() };
    for param in opened.signature.iter().flat_map(|signature| &signature.params) {
        maker.add(&param.name, CompletionKind::Param, param_line(param));
    }
    // What stands at the cursor is being written, so it is no parameter yet.
    let is_here = |span: diglot::source::Span| span.file == spot.file && span.end as usize == spot.offset;
    for used in opened.trees.iter().flatten().flat_map(|tree| &tree.params).filter(|used| !is_here(used.span)) {
        if !used.name.starts_with('?') {
            maker.add(&used.name, CompletionKind::Param, "");
        }
    }
    let written = &spot.text[replaces.clone()];
    let only_here = |made: &Completion| {
        let mut uses =
            opened.trees.iter().flatten().flat_map(|tree| &tree.params).filter(|used| used.name == made.label);
        made.label != written || uses.any(|used| !is_here(used.span))
    };
    maker.made.retain(only_here);
    maker.made
}

/// Behind the name of a table and a dot.
fn of_owner(spot: &Spot<'_>, owner: &str, replaces: &Range<usize>) -> Vec<Completion> {
    let mut maker = Maker::new(replaces);
    let table = || spot.schema().tables.contains_key(owner).then(|| Relation::Table(owner.to_owned()));
    let target = || spot.scope.0.iter().find(|_| owner == "excluded").map(|(_, relation)| relation.clone());
    if let Some(relation) = spot.scope.get(owner).cloned().or_else(table).or_else(target) {
        for (column, ty) in relation.columns(spot.schema()) {
            maker.add(column, CompletionKind::Column, shown(ty.as_ref()));
        }
    }
    maker.made
}

/// Where SQL stands: tables behind FROM and its like, elsewhere columns, and the names of what has them.
fn in_code(spot: &Spot<'_>, word: &Range<usize>) -> Vec<Completion> {
    let mut maker = Maker::new(word);
    let mut code = spot.code();
    code.retain(|token| token.start < word.start);
    let is_table = follows_table_word(spot.text, &code, code.len());
    if !is_table {
        for (owner, relation) in &spot.scope.0 {
            for (column, ty) in relation.columns(spot.schema()) {
                maker.add(column, CompletionKind::Column, format!("{owner}: {}", shown(ty.as_ref())));
            }
        }
        spot.scope.0.iter().for_each(|(owner, _)| maker.add(owner, CompletionKind::Table, ""));
        return maker.made;
    }
    for cte in ctes(spot) {
        maker.add(cte, CompletionKind::Table, "CTE of this statement");
    }
    for table in spot.schema().tables.values().filter(|table| !table.partition) {
        maker.add(&table.name, CompletionKind::Table, if table.view { "view" } else { "table" });
    }
    maker.made
}

/// The CTEs of the statement: names with AS and a bracket behind them.
fn ctes(spot: &Spot<'_>) -> Vec<String> {
    let code = spot.code();
    let is = |at: usize, word: &str| code.get(at).is_some_and(|token| spot.word(*token).eq_ignore_ascii_case(word));
    let is_cte = |at: &usize| {
        let before =
            at.checked_sub(1).is_some_and(|before| is(before, "with") || is(before, ",") || is(before, "recursive"));
        before && is(at + 1, "as") && (is(at + 2, "(") || is(at + 2, "materialized") || is(at + 2, "not"))
    };
    (0..code.len()).filter(is_cte).map(|at| name(spot.text, code[at])).collect()
}
