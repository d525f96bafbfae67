//! Learns which relation every name of a statement stands for.

use super::Walk;
use crate::tree::{Body, ConflictAction, Part, Query, Rows, Source, SourceKind};

impl<'a> Walk<'a> {
    pub(super) fn learn_part(&mut self, part: &'a Part) {
        match &part.body {
            Body::Query(query) => self.learn_query(query),
            Body::Insert(insert) => {
                self.sources.learn(&insert.target);
                if let Some(conflict) = &insert.conflict
                    && let ConflictAction::Update { excluded, .. } = &conflict.action
                {
                    self.sources.learn_excluded(*excluded, &insert.target);
                }
                self.learn_query(&insert.rows);
            }
            Body::Update(update) => {
                self.sources.learn(&update.target);
                self.learn_sources(&update.from);
            }
            Body::Delete(delete) => {
                self.sources.learn(&delete.target);
                self.learn_sources(&delete.using);
            }
        }
    }

    pub(super) fn learn_query(&mut self, query: &'a Query) {
        for (name, cte) in &query.ctes {
            self.sources.learn_cte(name, cte);
            self.learn_query(cte);
        }
        self.learn_rows(&query.rows);
    }

    pub(super) fn learn_rows(&mut self, rows: &'a Rows) {
        match rows {
            Rows::Select(select) => self.learn_sources(&select.from),
            Rows::Values(..) => {}
            Rows::Set { left, right, .. } => {
                self.learn_rows(left);
                self.learn_rows(right);
            }
            Rows::Query(query) => self.learn_query(query),
        }
    }

    pub(super) fn learn_sources(&mut self, sources: &'a [Source]) {
        for source in sources {
            self.sources.learn(source);
            if let SourceKind::Derived(query) = &source.kind {
                self.learn_query(query);
            }
        }
    }
}
