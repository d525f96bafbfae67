//! The texts of the steps that a statement takes where its tables are spread: its own words, put together anew.

use super::{element, slice_text};
use crate::dialect::Dialect;
use crate::emitted::{EmittedText, Holds, RowsOf, StepText, StepsGive, StepsText, TextParam};
use crate::infer::PageOf;
use crate::source::{Sources, Span};
use crate::split::lexer::{self, Token};
use crate::steps::{Gives, Inserting, LAST, Output, Step, Steps, Task, selected};
use crate::tree::{Body, Insert, OutputColumn};
use crate::types::{Base, Type};

/// The steps of a statement as they go to the driver.
pub(super) fn texts(sources: &Sources, page: &PageOf<'_>, whole: &EmittedText, taken: &Steps) -> StepsText {
    let writer = Writer { sources, page, whole, taken };
    let step = |(at, step): (usize, &Step)| match step {
        Step::Task(task) => StepText { text: writer.task(at, task), each: None },
        Step::Insert(insert) => {
            let each = taken.inserted(insert).map(|(step, output)| writer.rows(step, Some(output)));
            StepText { text: writer.insert(at, insert, each), each }
        }
    };
    let rows = |part: usize| taken.rows_of(part).map(|(step, output)| writer.rows(step, output));
    let gives = match &taken.gives {
        Gives::Nothing => StepsGive::Nothing,
        Gives::Count(part) => match (taken.rows_of(*part), rows(*part)) {
            (Some((_, Some(_))), Some(rows)) => StepsGive::CountOf(rows),
            (Some((step, None)), _) => StepsGive::Count(step),
            _ => StepsGive::Nothing,
        },
        Gives::Rows { sources, columns } => StepsGive::Rows {
            sources: sources.iter().filter_map(|(part, optional)| Some((rows(*part)?, *optional))).collect(),
            columns: columns.clone(),
        },
    };
    StepsText { steps: taken.steps.iter().enumerate().map(step).collect(), gives }
}

/// A piece of a step's text.
enum Piece {
    /// What stands on the page.
    Own(Span),
    /// What stands there for it.
    Word(String),
    /// A value that an earlier step gave.
    Value(TextParam),
}

struct Writer<'a> {
    sources: &'a Sources,
    page: &'a PageOf<'a>,
    whole: &'a EmittedText,
    taken: &'a Steps,
}

impl Writer<'_> {
    /// The rows of a step: one of the outputs of a task, or what an INSERT returned.
    fn rows(&self, step: usize, output: Option<usize>) -> RowsOf {
        let among = output.and_then(|output| match self.taken.steps.get(step)? {
            Step::Task(task) => {
                let before = task.outputs[..output].iter().map(|output| 1 + self.width(output));
                Some((output, 1 + before.sum::<usize>()))
            }
            Step::Insert(_) => None,
        });
        RowsOf { step, among }
    }

    /// The names of the values of an output.
    fn values(&self, output: &Output) -> Vec<String> {
        let part = &self.page.tree.parts[output.part];
        match &part.body {
            Body::Insert(_) => output.values.iter().map(|at| format!("v{at}")).collect(),
            Body::Query(_) | Body::Update(_) | Body::Delete(_) => {
                part.columns().into_iter().map(|(name, _)| name).collect()
            }
        }
    }

    fn width(&self, output: &Output) -> usize {
        self.values(output).len()
    }

    fn name(&self, part: usize) -> String {
        quoted(self.page.tree.parts[part].name.as_deref().unwrap_or(LAST))
    }

    fn task(&self, step: usize, task: &Task) -> EmittedText {
        let mut ctes: Vec<Vec<Piece>> = Vec::new();
        ctes.extend(task.takes.iter().map(|part| self.handed(*part)));
        ctes.extend(task.parts.iter().map(|part| self.as_it_is(*part)));
        ctes.extend(task.outputs.iter().filter_map(|output| self.to_insert(output)));
        let mut pieces = Vec::new();
        for (at, cte) in ctes.into_iter().enumerate() {
            pieces.push(word(if at == 0 { "WITH" } else { "," }));
            pieces.extend(cte);
        }
        pieces.push(Piece::Word(self.last(task)));
        self.text(step, pieces)
    }

    /// A CTE as it stands on the page, or the last statement as one.
    fn as_it_is(&self, part: usize) -> Vec<Piece> {
        let it = &self.page.tree.parts[part];
        if it.name.is_some() {
            return vec![Piece::Own(it.span)];
        }
        let ctes = self.page.tree.parts[..part].iter().filter(|cte| it.span.contains(cte.span));
        let start = ctes.map(|cte| cte.span.end).max().unwrap_or(it.span.start);
        let mut pieces = vec![Piece::Word(format!("{} AS (", quoted(LAST))), Piece::Own(Span { start, ..it.span })];
        if it.target().is_some() && it.columns().is_empty() {
            pieces.push(word("RETURNING true"));
        }
        pieces.push(word(")"));
        pieces
    }

    /// The rows of an earlier step.
    fn handed(&self, part: usize) -> Vec<Piece> {
        let rows = self.taken.rows_of(part).map(|(step, output)| self.rows(step, output));
        let columns = self.page.tree.parts[part].columns();
        let names: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
        let head = format!("{} ({}) AS (SELECT * FROM unnest(", self.name(part), names.join(", "));
        let mut pieces = vec![Piece::Word(head)];
        for (at, (name, ty)) in columns.iter().enumerate() {
            let (Some(rows), Some(ty)) = (rows, ty) else { continue };
            pieces.extend((at > 0).then(|| word(",")));
            let holds = Holds::Handed(rows, rows.place(at));
            pieces.push(Piece::Value(carried(format!("{}.{name}", self.name(part)), ty.base.clone(), holds)));
            pieces.push(Piece::Word(format!("::{}[]", element(&ty.base))));
        }
        pieces.push(word("))"));
        pieces
    }

    /// The rows that are to be inserted.
    fn to_insert(&self, output: &Output) -> Option<Vec<Piece>> {
        let Body::Insert(insert) = &self.page.tree.parts[output.part].body else { return None };
        let select = selected(insert)?;
        let (first, last) = (select.columns.first()?.span, select.columns.last()?.span);
        let rows = insert.rows.span;
        let names: Vec<String> = self.values(output).iter().map(|name| quoted(name)).collect();
        let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let mut pieces = vec![Piece::Word(format!("{}{names} AS (", self.name(output.part)))];
        pieces.push(Piece::Own(Span { end: first.start, ..rows }));
        for (at, place) in output.values.iter().enumerate() {
            pieces.extend((at > 0).then(|| word(",")));
            pieces.push(Piece::Own(select.columns[*place].span));
        }
        pieces.extend(output.values.is_empty().then(|| word("true")));
        pieces.push(Piece::Own(Span { start: last.end, ..rows }));
        pieces.push(word(")"));
        Some(pieces)
    }

    /// The SELECT that gives the rows of all outputs.
    fn last(&self, task: &Task) -> String {
        match task.outputs.as_slice() {
            [] => "SELECT 1".to_owned(),
            [output] => {
                let values = self.values(output).into_iter().map(|name| format!(", {}", quoted(&name)));
                format!("SELECT 0, true{} FROM {}", values.collect::<String>(), self.name(output.part))
            }
            outputs => {
                let (mut columns, mut from) = ("\"step\".\"n\"".to_owned(), String::new());
                for (at, output) in outputs.iter().enumerate() {
                    let (alias, values) = (format!("\"o{at}\""), self.values(output));
                    let list = |name: &String| format!(", {}", quoted(name));
                    let inside: String = values.iter().map(list).collect();
                    columns.push_str(&format!(", {alias}.\"diglot_is\""));
                    columns.extend(values.iter().map(|name| format!(", {alias}.{}", quoted(name))));
                    let own = format!("(SELECT true AS \"diglot_is\"{inside} FROM {})", self.name(output.part));
                    from.push_str(&format!(" LEFT JOIN {own} AS {alias} ON \"step\".\"n\" = {at}"));
                }
                let numbers: Vec<String> = (0..outputs.len()).map(|at| format!("({at})")).collect();
                format!("SELECT {columns} FROM (VALUES {}) AS \"step\" (\"n\"){from}", numbers.join(", "))
            }
        }
    }

    /// An INSERT of values.
    fn insert(&self, step: usize, inserting: &Inserting, each: Option<RowsOf>) -> EmittedText {
        let part = &self.page.tree.parts[inserting.part];
        let Body::Insert(insert) = &part.body else { return self.text(step, Vec::new()) };
        let end = part.span.end - u32::from(part.name.is_some());
        let all = Span { start: self.begin(part.span, insert), end, ..part.span };
        let Some(select) = selected(insert) else { return self.text(step, self.without_ctes(all, insert)) };
        let values = match self.taken.inserted(inserting).map(|(step, output)| (&self.taken.steps[step], output)) {
            Some((Step::Task(task), output)) => task.outputs[output].values.as_slice(),
            _ => &[],
        };
        let mut pieces = vec![Piece::Own(Span { end: self.rows_begin(all, insert), ..all }), word("VALUES (")];
        for (at, column) in select.columns.iter().enumerate() {
            pieces.extend((at > 0).then(|| word(",")));
            let place = values.iter().position(|value| *value == at);
            pieces.push(match (place, each) {
                (Some(place), Some(rows)) => {
                    let base = column.expr.ty.as_ref().map_or(Base::Text, |ty| ty.base.clone());
                    let name = insert.columns.get(at).map_or_else(String::new, |(name, _)| name.clone());
                    let holds = Holds::Carried(rows.place(place));
                    Piece::Value(carried(format!("{}.{name}", insert.target.alias), base, holds))
                }
                _ => Piece::Own(self.without_alias(column)),
            });
        }
        pieces.push(word(")"));
        pieces.push(Piece::Own(Span { start: insert.rows.span.end, ..all }));
        self.text(step, pieces)
    }

    /// An INSERT whose values stand there, without CTEs between its table and them.
    fn without_ctes(&self, all: Span, insert: &Insert) -> Vec<Piece> {
        let begin = self.rows_begin(all, insert);
        let is_values = |token: &Token, text: &str| is_word(token, text, "VALUES");
        let values = self.outside(Span { start: begin, ..all }, is_values).unwrap_or(begin);
        vec![Piece::Own(Span { end: begin, ..all }), Piece::Own(Span { start: values, ..all })]
    }

    /// Where `INSERT INTO` begins.
    fn begin(&self, part: Span, insert: &Insert) -> u32 {
        let before = Span { end: insert.target.span.start, ..part };
        let text = self.sources.text(before);
        let tokens = lexer::tokens(text, Dialect::Pg);
        let word = tokens.iter().rfind(|token| is_word(token, text, "INSERT"));
        word.map_or(part.start, |token| part.start + token.start as u32)
    }

    /// Where the rows of an INSERT begin, or the CTEs before them.
    fn rows_begin(&self, all: Span, insert: &Insert) -> u32 {
        let behind = Span { start: insert.target.span.end, ..all };
        let begins = |token: &Token, text: &str| {
            ["WITH", "SELECT", "VALUES", "DEFAULT"].iter().any(|word| is_word(token, text, word))
        };
        self.outside(behind, begins).unwrap_or(insert.rows.span.start)
    }

    /// The first word of that kind outside brackets.
    fn outside(&self, span: Span, is_it: impl Fn(&Token, &str) -> bool) -> Option<u32> {
        let text = self.sources.text(span);
        let mut depth = 0_i32;
        for token in lexer::tokens(text, Dialect::Pg) {
            match &text[token.start..token.end] {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ if depth == 0 && is_it(&token, text) => return Some(span.start + token.start as u32),
                _ => {}
            }
        }
        None
    }

    /// A value without the name that a SELECT gives it.
    fn without_alias(&self, column: &OutputColumn) -> Span {
        let alias = self.outside(column.span, |token, text| is_word(token, text, "AS"));
        Span { end: alias.unwrap_or(column.span.end), ..column.span }
    }

    /// Puts the pieces together and numbers their parameters: those of the statement, then what is carried.
    fn text(&self, step: usize, pieces: Vec<Piece>) -> EmittedText {
        let is_used = |param: &&TextParam| {
            let here = |span: Span| pieces.iter().any(|piece| matches!(piece, Piece::Own(own) if own.contains(span)));
            self.page.tree.params.iter().any(|used| used.name == param.name && here(used.span))
        };
        let mut params: Vec<TextParam> = self.whole.params.iter().filter(is_used).cloned().collect();
        let given = params.clone();
        let EmittedText { noun, name, variant, dialect, .. } = self.whole;
        let name = format!("{name}.{}", step + 1);
        let mut sql = format!("/* {noun}.{name}{variant} {dialect} */");
        let mut places = Vec::new();
        for piece in pieces {
            let (text, within) = match piece {
                Piece::Own(span) => slice_text(self.sources, self.page, span, (&given, &[])),
                Piece::Word(text) => (text, Vec::new()),
                Piece::Value(param) => {
                    params.push(param);
                    (dialect.placeholder(params.len()), Vec::new())
                }
            };
            let is_close = text.is_empty() || text.starts_with([',', ')', ':']) || sql.ends_with('(');
            if !is_close {
                sql.push(' ');
            }
            places.extend(within.into_iter().map(|(start, span)| (sql.len() + start, span)));
            sql.push_str(&text);
        }
        EmittedText {
            name,
            noun: noun.clone(),
            parts: vec![sql.clone()],
            sql,
            places,
            params,
            columns: Vec::new(),
            result: None,
            joined: None,
            steps: None,
            constant: false,
            variant: variant.clone(),
            ..self.whole.clone()
        }
    }
}

fn word(text: &str) -> Piece {
    Piece::Word(text.to_owned())
}

fn is_word(token: &Token, text: &str, word: &str) -> bool {
    text[token.start..token.end].eq_ignore_ascii_case(word)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn carried(name: String, base: Base, holds: Holds) -> TextParam {
    TextParam { name, ty: Type { base, nullable: true }, digits: false, stored: None, holds }
}
