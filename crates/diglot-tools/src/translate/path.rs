//! JSON paths: `'$.a."b.c"[0]'` of SQLite, `'a'`, `'{a,b,0}'` and chains of arrows of Postgres.

use diglot::tree::{Expr, ExprKind};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    /// Counted from the end when negative.
    Index(i64),
}

/// The steps of a path of SQLite; nothing of one that Postgres has no steps for.
pub(super) fn of_sqlite(path: &Expr) -> Option<Vec<Step>> {
    let ExprKind::Text(text) = &path.kind else { return None };
    let mut rest = text.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix(".\"") {
            let (key, after) = quoted.split_once('"')?;
            steps.push(Step::Key(key.to_owned()));
            rest = after;
        } else if let Some(key) = rest.strip_prefix('.') {
            let (key, after) = key.split_at(key.find(['.', '[']).unwrap_or(key.len()));
            steps.push(Step::Key(key.to_owned()));
            rest = after;
        } else {
            let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Index(index.strip_prefix('#').unwrap_or(index).parse().ok()?));
            rest = after;
        }
    }
    let sound = |step: &Step| !matches!(step, Step::Key(key) if key.is_empty() || key.contains('\\'));
    (!steps.is_empty() && steps.iter().all(sound)).then_some(steps)
}

/// The steps of `'{a,b,0}'`.
pub(super) fn of_pg(path: &Expr) -> Option<Vec<Step>> {
    let ExprKind::Text(text) = &path.bare().kind else { return None };
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let step = |step: &str| match step.trim() {
        quoted if quoted.starts_with('"') => Step::Key(quoted.trim_matches('"').to_owned()),
        number if number.parse::<i64>().is_ok() => Step::Index(number.parse().unwrap_or_default()),
        key => Step::Key(key.to_owned()),
    };
    (!inner.is_empty() && !inner.contains('\\')).then(|| inner.split(',').map(step).collect())
}

/// The step of an arrow's right side.
pub(super) fn of_arrow(step: &Expr) -> Option<Step> {
    match &step.bare().kind {
        ExprKind::Text(key) => Some(Step::Key(key.clone())),
        ExprKind::Number(index) => Some(Step::Index(index.parse().ok()?)),
        ExprKind::Unary { op, expr } if op == "-" => match &expr.kind {
            ExprKind::Number(index) => Some(Step::Index(-index.parse::<i64>().ok()?)),
            _ => None,
        },
        _ => None,
    }
}

/// A path of SQLite as a text literal.
pub(super) fn sqlite(steps: &[Step]) -> String {
    let mut path = "$".to_owned();
    for step in steps {
        let is_plain = |key: &str| key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match step {
            Step::Key(key) if is_plain(key) => path.push_str(&format!(".{key}")),
            Step::Key(key) => path.push_str(&format!(".\"{key}\"")),
            Step::Index(index) if *index < 0 => path.push_str(&format!("[#{index}]")),
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    literal(&path)
}

/// `-> 'a' ->> 'b'`: the last arrow gives text when that is wanted.
pub(super) fn arrows(steps: &[Step], text: bool) -> String {
    let mut chain = String::new();
    for (at, step) in steps.iter().enumerate() {
        let arrow = if text && at + 1 == steps.len() { "->>" } else { "->" };
        let label = match step {
            Step::Key(key) => literal(key),
            Step::Index(index) => index.to_string(),
        };
        chain.push_str(&format!(" {arrow} {label}"));
    }
    chain
}

/// `'{a,b}'`; nothing when a step would need an escape.
pub(super) fn braces(steps: &[Step]) -> Option<String> {
    let step = |step: &Step| match step {
        Step::Key(key) if key.contains(['"', '\\']) => None,
        Step::Key(key) if key.chars().all(|c| c.is_alphanumeric() || c == '_') => Some(key.clone()),
        Step::Key(key) => Some(format!("\"{key}\"")),
        Step::Index(index) => Some(index.to_string()),
    };
    let steps: Option<Vec<String>> = steps.iter().map(step).collect();
    steps.map(|steps| literal(&format!("{{{}}}", steps.join(","))))
}

/// A text literal of either dialect.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
