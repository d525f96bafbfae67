//! What a DO block of Postgres does to the schema.
//!
//! Its statements are read as if every condition in it held: such blocks make what is not there yet. What a block puts
//! together at run time cannot be read, and is named.

use std::ops::Range;

use super::migration::{self, Piece, Use};
use super::read::Reader;
use crate::diagnostic::Diagnostic;
use crate::dialect::Dialect;
use crate::rule;
use crate::source::Span;
use crate::split::lexer::{self, Kind};

/// Words behind which a statement of PL/pgSQL begins.
const OPENING: [&str; 4] = ["begin", "declare", "else", "exception"];

/// First words of statements that shape tables, and of those that matter beside them: they change rows, or limit waits.
const TAKEN: [&str; 9] = ["alter", "create", "delete", "drop", "insert", "lock", "set", "truncate", "update"];

/// First words of what has a condition or a head before the next statement.
const WITH_HEAD: [&str; 8] = ["if", "elsif", "elseif", "when", "for", "foreach", "while", "case"];

impl Reader {
    /// Reads a block that stands in the text of a migration.
    pub(super) fn block(&mut self, text: &str, block: &Piece) {
        let Some(body) = body(text, block.span.range()) else {
            self.unread_block(block.span, "the text of the block is not in dollar quotes");
            return;
        };
        let mut own = vec![b' '; text.len()];
        for (word, range) in statements(text, body) {
            let span = Span::new(block.span.file, range.clone());
            match word.as_str() {
                word if TAKEN.contains(&word) => {
                    let end = range.end.saturating_add(1).min(text.len());
                    own[range.start..end].copy_from_slice(&text.as_bytes()[range.start..end]);
                }
                "execute" if may_shape_tables(&text[range]) => {
                    self.unread_block(span, "SQL that is put together when it runs");
                }
                _ => {}
            }
        }
        // Whole statements were copied, so it is text still.
        let own = String::from_utf8(own).unwrap_or_default();
        let outside = std::mem::replace(&mut self.guarded, true);
        for piece in migration::pieces(&own, block.span.file, Dialect::Pg) {
            if piece.purpose() == Use::Pass {
                super::routines::read(&mut self.schema, &own[piece.span.range()], piece.span);
            }
            self.piece(&piece);
        }
        self.guarded = outside;
    }

    fn unread_block(&mut self, span: Span, label: &str) {
        let message = format!("{}: what this DO block does to tables is not known", self.titled());
        let help = "write what shapes tables as statements of its own; blocks are read where they are plain SQL";
        self.report(Diagnostic::warning(rule::BUILT_TEXT, message, span, label).help(help));
    }
}

/// Where the body of a block stands: between its dollar quotes.
fn body(text: &str, block: Range<usize>) -> Option<Range<usize>> {
    let own = &text[block.clone()];
    let quoted = lexer::tokens(own, Dialect::Pg).into_iter().find(|token| token.kind == Kind::Text)?;
    let quote = own[quoted.start..quoted.end].strip_prefix('$')?.find('$')? + 2;
    let (start, end) = (quoted.start + quote, quoted.end.checked_sub(quote)?);
    (start <= end).then(|| block.start + start..block.start + end)
}

/// The first word and the place of every statement of a body.
fn statements(text: &str, body: Range<usize>) -> Vec<(String, Range<usize>)> {
    let own = &text[body.clone()];
    let mut found = Vec::new();
    let mut first: Option<(String, usize)> = None;
    for token in lexer::tokens(own, Dialect::Pg).into_iter().filter(|token| !token.is_comment()) {
        let word = own[token.start..token.end].to_ascii_lowercase();
        match (token.kind, &first) {
            (Kind::Semicolon, _) => {
                let ended = first.take();
                found.extend(ended.map(|(word, start)| (word, body.start + start..body.start + token.start)));
            }
            (Kind::Word, None) if !OPENING.contains(&word.as_str()) => first = Some((word, token.start)),
            (Kind::Word, Some((head, _)))
                if WITH_HEAD.contains(&head.as_str()) && ["then", "loop"].contains(&word.as_str()) =>
            {
                first = None;
            }
            _ => {}
        }
    }
    found
}

/// Whether what EXECUTE runs may make another table of one. Partitions are made like the table that they belong to.
fn may_shape_tables(execute: &str) -> bool {
    let text = execute.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_literal = text.contains('\'') || text.contains('$');
    !is_literal || (has(&["table", "view", "column", "type", "domain"]) && !has(&["partition of", "attach partition"]))
}

#[cfg(test)]
mod tests {
    use crate::dialect::Dialect;
    use crate::schema::Schema;
    use crate::source::{SourceFile, Sources};

    fn read(text: &str) -> (Schema, Vec<String>) {
        let mut sources = Sources::default();
        let file = sources.add(SourceFile::new("schema/pg/0001_init.sql", text));
        let (schema, found) = crate::schema::read(&sources, &[file], Dialect::Pg);
        let said = |finding: &crate::diagnostic::Diagnostic| {
            let at = finding.labels.first().map_or("", |label| sources.text(label.span));
            format!("{} {at}", finding.message)
        };
        let found = found.iter().map(said).collect();
        (schema, found)
    }

    fn columns(schema: &Schema, table: &str) -> Vec<String> {
        let table = schema.tables.get(table);
        table.into_iter().flat_map(|table| &table.columns).map(|column| column.name.clone()).collect()
    }

    #[test]
    fn what_a_block_makes_is_there_whatever_its_conditions_say() {
        let (schema, found) = read(
            "CREATE TABLE shelf (id bigint PRIMARY KEY);\n\
             DO $make$\nDECLARE n int := 1;\nBEGIN\n  CREATE TYPE wood AS ENUM ('oak', 'fir');\n\
             EXCEPTION WHEN duplicate_object THEN NULL;\nEND\n$make$;\n\
             DO $$ BEGIN\n  IF NOT EXISTS (SELECT 1 FROM pg_attribute WHERE attname = 'wood') THEN\n\
             \x20   ALTER TABLE shelf ADD COLUMN wood wood;\n  ELSE\n    RAISE NOTICE 'there';\n  END IF;\n\
             \x20 FOR n IN SELECT 1 LOOP CREATE INDEX shelf_wood ON shelf (wood); END LOOP;\nEND $$ LANGUAGE plpgsql;\n",
        );
        assert_eq!(found, Vec::<String>::new());
        assert_eq!(columns(&schema, "shelf"), ["id", "wood"]);
        assert!(schema.enums.contains_key("wood"));
        assert_eq!(schema.tables["shelf"].indexes.len(), 1);
    }

    #[test]
    fn what_is_there_already_is_not_made_twice() {
        let (schema, found) = read(
            "CREATE TABLE shelf (id bigint PRIMARY KEY, wood text);\nDO $$ BEGIN\n\
             IF TRUE THEN ALTER TABLE shelf ADD COLUMN wood text; END IF;\n\
             IF FALSE THEN ALTER TABLE old_shelf DROP COLUMN wood; END IF;\nEND $$;\n",
        );
        assert_eq!(found, Vec::<String>::new());
        assert_eq!(columns(&schema, "shelf"), ["id", "wood"]);
    }

    #[test]
    fn what_is_put_together_is_named() {
        let (_, found) = read(
            "DO $$ BEGIN\n  EXECUTE format('ALTER TABLE %I ADD COLUMN n int', 'shelf');\n\
             EXECUTE 'GRANT SELECT ON shelf TO reader';\n\
             EXECUTE format('CREATE TABLE %I PARTITION OF shelf FOR VALUES IN (1)', 'p');\nEND $$;\n\
             DO 'BEGIN NULL; END';\n",
        );
        let message = "0001_init (Postgres): what this DO block does to tables is not known";
        let first = format!("{message} EXECUTE format('ALTER TABLE %I ADD COLUMN n int', 'shelf')");
        assert_eq!(found, [first, format!("{message} DO 'BEGIN NULL; END'")]);
    }
}
