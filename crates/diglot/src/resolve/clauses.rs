//! Clauses that no tree of ours has a place for.
//!
//! The parser reads the clauses of many engines. Every field of the nodes that lowering takes apart is named here or
//! there: one that a later version of the parser adds stops the build instead of being dropped, and what is written and
//! not understood is a finding at its place.

use sqlparser::ast::{
    self, FunctionArgumentClause, FunctionArguments, GroupByExpr, LimitClause, OrderByKind, OrderBySort,
};

use super::Lower;
use crate::source::Span;

/// Clauses by name, with whether they are written.
type Written<'n> = [(&'n str, bool)];

impl Lower<'_> {
    /// Refuses the clauses that are written. Where they are is asked only if there are some.
    fn refuse(&mut self, clauses: &Written<'_>, around: impl FnOnce(&Self) -> Span) {
        if clauses.iter().all(|(_, is_written)| !is_written) {
            return;
        }
        let around = around(self);
        for (words, _) in clauses.iter().filter(|(_, is_written)| *is_written) {
            let span = self.words_in(words, around).unwrap_or(around);
            self.unsupported(words, span);
        }
    }

    /// Where the first of some words stands in a piece of the text, else anywhere in the statement.
    fn words_in(&self, words: &str, around: Span) -> Option<Span> {
        let first = words.split_whitespace().next()?;
        let is_it = |at: &usize| self.text.is_word(*at, first);
        let (start, end) = (self.text.first_of(around), self.text.last_of(around));
        let at = (start..=end).find(is_it).or_else(|| (0..self.text.tokens.len()).find(is_it))?;
        Some(self.text.bytes(at, at))
    }

    pub(super) fn clauses_of_query(&mut self, node: &ast::Query) {
        let ast::Query {
            with: _,
            body,
            order_by,
            limit_clause,
            fetch,
            locks,
            for_clause,
            settings,
            format_clause,
            pipe_operators,
        } = node;
        // A write that stands where a query may has no such clauses of its own.
        let is_write = matches!(
            body.as_ref(),
            ast::SetExpr::Insert(_) | ast::SetExpr::Update(_) | ast::SetExpr::Delete(_) | ast::SetExpr::Merge(_)
        );
        let by = match limit_clause {
            Some(LimitClause::LimitOffset { limit: _, offset: _, limit_by }) => !limit_by.is_empty(),
            Some(LimitClause::OffsetCommaLimit { offset: _, limit: _ }) | None => false,
        };
        let clauses = [
            ("LIMIT … BY", by),
            ("FOR …", for_clause.is_some() || !locks.is_empty()),
            ("SETTINGS", settings.is_some()),
            ("FORMAT", format_clause.is_some()),
            ("|>", !pipe_operators.is_empty()),
            ("ORDER BY behind a write", is_write && order_by.is_some()),
            ("LIMIT behind a write", is_write && limit_clause.is_some()),
            ("FETCH behind a write", is_write && fetch.is_some()),
        ];
        self.refuse(&clauses, |lower| lower.place(node));
        if let Some(ast::OrderBy { kind, interpolate }) = order_by {
            let all = matches!(kind, OrderByKind::All(_));
            self.refuse(&[("ORDER BY ALL", all), ("INTERPOLATE", interpolate.is_some())], |lower| lower.place(node));
        }
    }

    pub(super) fn clauses_of_cte(&mut self, node: &ast::Cte) {
        // `MATERIALIZED` was taken out of the text and is put back into the part.
        let ast::Cte { alias, query: _, from, materialized: _, closing_paren_token: _ } = node;
        self.refuse(&[("FROM", from.is_some())], |lower| lower.place_of(alias.name.span));
        self.clauses_of_alias(Some(alias));
    }

    pub(super) fn clauses_of_select(&mut self, node: &ast::Select) {
        let ast::Select {
            select_token: _,
            // A hint is a comment.
            optimizer_hints: _,
            distinct: _,
            select_modifiers,
            top,
            top_before_distinct: _,
            projection: _,
            exclude,
            // Told where it is lowered.
            into: _,
            from: _,
            lateral_views,
            prewhere,
            selection: _,
            connect_by,
            group_by,
            cluster_by,
            distribute_by,
            sort_by,
            having: _,
            named_window,
            qualify,
            window_before_qualify: _,
            value_table_mode,
            flavor,
        } = node;
        let (all, modifiers) = match group_by {
            GroupByExpr::All(modifiers) => (true, modifiers),
            GroupByExpr::Expressions(_, modifiers) => (false, modifiers),
        };
        let renamed =
            named_window.iter().any(|definition| matches!(definition.1, ast::NamedWindowExpr::NamedWindow(_)));
        let clauses = [
            ("STRAIGHT_JOIN", select_modifiers.is_some()),
            ("TOP", top.is_some()),
            ("EXCLUDE", exclude.is_some()),
            ("LATERAL VIEW", !lateral_views.is_empty()),
            ("PREWHERE", prewhere.is_some()),
            ("CONNECT BY", !connect_by.is_empty()),
            ("GROUP BY ALL", all),
            ("GROUP BY with a modifier", !modifiers.is_empty()),
            ("CLUSTER BY", !cluster_by.is_empty()),
            ("DISTRIBUTE BY", !distribute_by.is_empty()),
            ("SORT BY", !sort_by.is_empty()),
            ("WINDOW of another name", renamed),
            ("QUALIFY", qualify.is_some()),
            ("AS STRUCT", value_table_mode.is_some()),
            ("FROM before SELECT", !matches!(flavor, ast::SelectFlavor::Standard)),
        ];
        self.refuse(&clauses, |lower| lower.place(node));
    }

    pub(super) fn clauses_of_order(&mut self, node: &ast::OrderByExpr) {
        let ast::OrderByExpr { expr, options: ast::OrderByOptions { sort, nulls_first: _ }, with_fill } = node;
        self.refuse(&[("WITH FILL", with_fill.is_some())], |lower| lower.place(expr));
        if let Some(OrderBySort::Using(operator)) = sort
            && direction(operator).is_none()
        {
            self.refuse(&[("USING", true)], |lower| lower.place(expr));
        }
    }

    pub(super) fn clauses_of_join(&mut self, node: &ast::Join) {
        let ast::Join { relation: _, global, join_operator: _ } = node;
        self.refuse(&[("GLOBAL", *global)], |lower| lower.text.span);
    }

    pub(super) fn clauses_of_alias(&mut self, alias: Option<&ast::TableAlias>) {
        let Some(ast::TableAlias { explicit: _, name, columns: _, at }) = alias else { return };
        self.refuse(&[("AT", at.is_some())], |lower| lower.place_of(name.span));
    }

    /// The clauses of a table in FROM, and those of the functions and queries that stand in its place.
    pub(super) fn clauses_of_factor(&mut self, node: &ast::TableFactor) {
        use ast::TableFactor as F;
        match node {
            F::Table {
                name: _,
                alias,
                args,
                with_hints,
                version,
                with_ordinality: _,
                partitions,
                json_path,
                sample,
                index_hints,
            } => {
                let settings =
                    args.as_ref().is_some_and(|ast::TableFunctionArgs { args: _, settings }| settings.is_some());
                let clauses = [
                    ("SETTINGS", settings),
                    ("WITH (…)", !with_hints.is_empty()),
                    ("FOR SYSTEM_TIME", version.is_some()),
                    ("PARTITION", !partitions.is_empty()),
                    ("a path behind a table", json_path.is_some()),
                    ("TABLESAMPLE", sample.is_some()),
                    ("INDEX", !index_hints.is_empty()),
                ];
                self.refuse(&clauses, |lower| lower.place(node));
                self.clauses_of_alias(alias.as_ref());
            }
            F::Derived { lateral: _, subquery: _, alias, sample } => {
                self.refuse(&[("TABLESAMPLE", sample.is_some())], |lower| lower.place(node));
                self.clauses_of_alias(alias.as_ref());
            }
            F::Function { lateral: _, name: _, args: _, with_ordinality: _, alias } => {
                self.clauses_of_alias(alias.as_ref());
            }
            F::UNNEST { alias, array_exprs: _, with_offset, with_offset_alias, with_ordinality: _ } => {
                self.refuse(&[("WITH OFFSET", *with_offset || with_offset_alias.is_some())], |lower| lower.place(node));
                self.clauses_of_alias(alias.as_ref());
            }
            // Lowering has no place for these as a whole.
            _ => {}
        }
    }

    pub(super) fn clauses_of_star(&mut self, options: &ast::WildcardAdditionalOptions, span: Span) {
        let ast::WildcardAdditionalOptions {
            wildcard_token: _,
            opt_ilike,
            opt_exclude,
            opt_except,
            opt_replace,
            opt_rename,
            opt_alias,
        } = options;
        let clauses = [
            ("ILIKE", opt_ilike.is_some()),
            ("EXCLUDE", opt_exclude.is_some()),
            ("EXCEPT", opt_except.is_some()),
            ("REPLACE", opt_replace.is_some()),
            ("RENAME", opt_rename.is_some()),
            ("AS", opt_alias.is_some()),
        ];
        self.refuse(&clauses, |_| span);
    }

    pub(super) fn clauses_of_insert(&mut self, node: &ast::Insert) {
        let ast::Insert {
            insert_token: _,
            optimizer_hints: _,
            or: _,
            ignore,
            into: _,
            table: _,
            table_alias: _,
            columns: _,
            overwrite,
            source: _,
            assignments,
            partitioned,
            after_columns,
            has_table_keyword,
            on: _,
            returning: _,
            output,
            replace_into: _,
            priority,
            insert_alias,
            settings,
            format_clause,
            multi_table_insert_type,
            multi_table_into_clauses,
            multi_table_when_clauses,
            multi_table_else_clause,
        } = node;
        let several = multi_table_insert_type.is_some()
            || !multi_table_into_clauses.is_empty()
            || !multi_table_when_clauses.is_empty()
            || multi_table_else_clause.is_some();
        let clauses = [
            ("IGNORE", *ignore),
            ("OVERWRITE", *overwrite),
            ("SET", !assignments.is_empty()),
            ("PARTITION", partitioned.is_some() || !after_columns.is_empty()),
            ("TABLE", *has_table_keyword),
            ("OUTPUT", output.is_some()),
            ("PRIORITY", priority.is_some()),
            ("AS", insert_alias.is_some()),
            ("SETTINGS", settings.is_some()),
            ("FORMAT", format_clause.is_some()),
            ("INTO several tables", several),
        ];
        self.refuse(&clauses, |lower| lower.text.span);
    }

    pub(super) fn clauses_of_update(&mut self, node: &ast::Update) {
        let ast::Update {
            update_token: _,
            optimizer_hints: _,
            table: _,
            assignments: _,
            from,
            selection: _,
            returning: _,
            output,
            or,
            order_by,
            limit,
        } = node;
        let before = matches!(from, Some(ast::UpdateTableFromKind::BeforeSet(_)));
        let clauses = [
            ("FROM before SET", before),
            ("OUTPUT", output.is_some()),
            ("OR behind UPDATE", or.is_some()),
            ("ORDER BY behind UPDATE", !order_by.is_empty()),
            ("LIMIT behind UPDATE", limit.is_some()),
        ];
        self.refuse(&clauses, |lower| lower.text.span);
    }

    pub(super) fn clauses_of_delete(&mut self, node: &ast::Delete) {
        let ast::Delete {
            delete_token: _,
            optimizer_hints: _,
            tables,
            from,
            using: _,
            selection: _,
            returning: _,
            output,
            order_by,
            limit,
        } = node;
        let (ast::FromTable::WithFromKeyword(list) | ast::FromTable::WithoutKeyword(list)) = from;
        let several = !tables.is_empty() || list.len() > 1 || matches!(from, ast::FromTable::WithoutKeyword(_));
        let clauses = [
            ("DELETE from several tables", several),
            ("OUTPUT", output.is_some()),
            ("ORDER BY behind DELETE", !order_by.is_empty()),
            ("LIMIT behind DELETE", limit.is_some()),
        ];
        self.refuse(&clauses, |lower| lower.text.span);
    }

    /// Whether a call has no clause but those that a tree has places for. Others make it a word that nothing is known of.
    pub(super) fn is_plain_call(function: &ast::Function) -> bool {
        let ast::Function {
            name: _,
            uses_odbc_syntax,
            parameters,
            args,
            within_group,
            filter: _,
            null_treatment,
            over: _,
        } = function;
        let is_plain_list = match args {
            FunctionArguments::None | FunctionArguments::Subquery(_) => true,
            FunctionArguments::List(ast::FunctionArgumentList { duplicate_treatment: _, args: _, clauses }) => {
                clauses.iter().all(|clause| match clause {
                    FunctionArgumentClause::OrderBy(_) => true,
                    FunctionArgumentClause::IgnoreOrRespectNulls(treatment) => keeps_nulls(treatment),
                    FunctionArgumentClause::Where(_)
                    | FunctionArgumentClause::Limit(_)
                    | FunctionArgumentClause::OnOverflow(_)
                    | FunctionArgumentClause::Having(_)
                    | FunctionArgumentClause::Separator(_)
                    | FunctionArgumentClause::JsonNullClause(_)
                    | FunctionArgumentClause::JsonReturningClause(_) => false,
                })
            }
        };
        !uses_odbc_syntax
            && matches!(parameters, FunctionArguments::None)
            && is_plain_list
            && within_group.is_empty()
            && null_treatment.as_ref().is_none_or(keeps_nulls)
    }
}

/// What a window function does anyway.
fn keeps_nulls(treatment: &ast::NullTreatment) -> bool {
    matches!(treatment, ast::NullTreatment::RespectNulls)
}

/// Whether `ORDER BY x USING operator` sorts downwards; none for an operator that says something else.
pub(super) fn direction(operator: &ast::ObjectName) -> Option<bool> {
    match operator.to_string().trim() {
        "<" => Some(false),
        ">" => Some(true),
        _ => None,
    }
}
