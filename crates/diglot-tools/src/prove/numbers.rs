//! Who numbers the rows that a pair writes: the statement, or the database.

use std::collections::{BTreeMap, BTreeSet};

use super::tables::Table;
use diglot::dialect::Both;
use diglot::tree::{Assignment, Body, ConflictAction, Expr, ExprKind, Insert, Rows, Source, Statement};

/// What a pair does with the number columns of its tables.
pub(super) struct Numbers {
    /// Tables to whose rows an INSERT gives their numbers itself, and no page lets the database do it.
    pub(super) own: BTreeSet<String>,
    /// Parameters that number rows which the other page's database numbers.
    pub(super) fresh: BTreeSet<String>,
}

/// What one page does.
#[derive(Default)]
struct Page {
    /// Tables whose number column an INSERT names.
    named: BTreeSet<String>,
    /// The parameters that number rows, by table.
    given: BTreeMap<String, BTreeSet<String>>,
    /// Tables whose rows the database numbers.
    drawn: BTreeSet<String>,
}

impl Numbers {
    pub(super) fn of(trees: &Both<Statement>, tables: &[Table]) -> Self {
        let Both { sqlite, pg } = trees.each_ref().map(|tree| Page::of(tree, tables));
        let mut fresh = BTreeSet::new();
        for (page, facing) in [(&sqlite, &pg), (&pg, &sqlite)] {
            let given = page.given.iter().filter(|(table, _)| facing.drawn.contains(*table));
            fresh.extend(given.flat_map(|(_, params)| params.iter().cloned()));
        }
        let is_drawn = |table: &&String| sqlite.drawn.contains(*table) || pg.drawn.contains(*table);
        let own = sqlite.named.union(&pg.named).filter(|table| !is_drawn(table)).cloned().collect();
        Self { own, fresh }
    }
}

impl Page {
    fn of(tree: &Statement, tables: &[Table]) -> Self {
        let mut page = Self::default();
        for part in &tree.parts {
            match &part.body {
                Body::Insert(insert) => page.insert(insert, tables),
                Body::Update(update) => page.set(&update.target, &update.set, tables),
                Body::Query(_) | Body::Delete(_) => {}
            }
        }
        page
    }

    fn insert(&mut self, insert: &Insert, tables: &[Table]) {
        let Some((table, number)) = numbered(&insert.target, tables) else { return };
        match insert.columns.iter().position(|(column, _)| column == number) {
            None => {
                self.drawn.insert(table.to_owned());
            }
            Some(at) => {
                let values: Vec<&Expr> = match &insert.rows.rows {
                    Rows::Select(select) => select.columns.get(at).map(|column| &column.expr).into_iter().collect(),
                    Rows::Values(rows, _) => rows.iter().filter_map(|row| row.get(at)).collect(),
                    Rows::Set { .. } | Rows::Query(_) => Vec::new(),
                };
                if !values.iter().any(|value| is_drawn(value)) {
                    self.named.insert(table.to_owned());
                }
                values.into_iter().for_each(|value| self.value(table, value));
            }
        }
        if let Some(conflict) = &insert.conflict
            && let ConflictAction::Update { set, .. } = &conflict.action
        {
            self.set(&insert.target, set, tables);
        }
    }

    fn set(&mut self, target: &Source, set: &[Assignment], tables: &[Table]) {
        let Some((table, number)) = numbered(target, tables) else { return };
        for assignment in set.iter().filter(|assignment| assignment.column == number) {
            self.value(table, &assignment.value);
        }
    }

    fn value(&mut self, table: &str, value: &Expr) {
        if is_drawn(value) {
            self.drawn.insert(table.to_owned());
        } else if let ExprKind::Param(name) = &value.kind {
            self.given.entry(table.to_owned()).or_default().insert(name.clone());
        }
    }
}

/// The table behind a target, and its number column.
fn numbered<'t>(target: &'t Source, tables: &'t [Table]) -> Option<(&'t str, &'t str)> {
    let name = target.table()?;
    Some((name, tables.iter().find(|table| table.name == *name)?.numbered()?))
}

/// Whether the database makes the value: of DEFAULT, or as the next number of a sequence.
fn is_drawn(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Call { name, .. } => name == "nextval",
        // SQLite numbers a row whose number is NULL.
        ExprKind::Opaque(_) | ExprKind::Null => true,
        _ => false,
    }
}
