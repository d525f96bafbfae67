//! Reading migrations: what the tables look like afterwards, and the text of every finding.

use super::*;
use crate::diagnostic::Diagnostic;
use crate::source::{SourceFile, Sources};
use crate::types::Base;

fn read_all(dialect: Dialect, migrations: &[&str]) -> (Sources, Schema, Vec<Diagnostic>) {
    let mut sources = Sources::default();
    let files: Vec<_> = migrations
        .iter()
        .enumerate()
        .map(|(i, text)| sources.add(SourceFile::new(format!("schema/{dialect}/000{}_change.sql", i + 1), *text)))
        .collect();
    let (schema, found) = read(&sources, &files, dialect);
    (sources, schema, found)
}

/// The tables of migrations without findings, one line for each column and key.
fn shape(dialect: Dialect, migrations: &[&str]) -> String {
    let (_, schema, found) = read_all(dialect, migrations);
    assert!(found.is_empty(), "{found:#?}");
    describe(&schema)
}

fn describe(schema: &Schema) -> String {
    let mut lines = Vec::new();
    for table in schema.tables.values() {
        lines.push(format!("{} {}", if table.view { "view" } else { "table" }, table.name));
        for column in &table.columns {
            let default = if column.has_default { " default" } else { "" };
            lines.push(format!("  {} {}{default}", column.name, column.ty));
        }
        if !table.primary_key.is_empty() {
            lines.push(format!("  primary key {:?}", table.primary_key));
        }
        lines.extend(table.unique.iter().map(|unique| format!("  unique {unique:?}")));
        lines.extend(table.constraints.iter().map(|(name, columns)| format!("  constraint {name} {columns:?}")));
        if !table.partitioned_by.is_empty() {
            lines.push(format!("  partitioned by {:?}", table.partitioned_by));
        }
    }
    lines.join("\n")
}

#[test]
fn the_columns_of_postgres_have_their_width_and_their_defaults() {
    let shape = shape(
        Dialect::Pg,
        &["CREATE TABLE public.Lease (
             a smallint NOT NULL, b int, c bigserial, d boolean DEFAULT true, e double precision, f numeric(10, 2),
             g character varying(20) NOT NULL, h bytea, i uuid DEFAULT gen_random_uuid(), j jsonb, k text[], l bigint[],
             m timestamptz NOT NULL DEFAULT now(), n timestamp(3) with time zone, o bigint GENERATED ALWAYS AS IDENTITY,
             p int GENERATED ALWAYS AS (b + 1) STORED, q text DEFAULT NULL, r varchar(8)[], s real, t uuid[],
             PRIMARY KEY (a, g), UNIQUE (b), CONSTRAINT lease_i UNIQUE (i, a), CHECK (b > 0)
           ) PARTITION BY HASH (a);"],
    );
    assert_eq!(
        shape,
        r#"table lease
  a i16
  b i32 null
  c i64 default
  d bool null default
  e f64 null
  f numeric null
  g text
  h bytes null
  i uuid null default
  j json null
  k text[] null
  l i64[] null
  m timestamp default
  n timestamp null
  o i64 default
  p i32 null default
  q text null
  r text[] null
  s f64 null
  t uuid[] null
  primary key ["a", "g"]
  unique ["b"]
  unique ["i", "a"]
  constraint lease_b_key ["b"]
  constraint lease_i ["i", "a"]
  constraint lease_pkey ["a", "g"]
  partitioned by ["a"]"#
    );
}

#[test]
fn the_columns_of_sqlite_have_their_affinity_and_its_rules_for_keys() {
    let shape = shape(
        Dialect::Sqlite,
        &["CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT NOT NULL DEFAULT '', b BLOB, r REAL, o BOOLEAN NOT NULL, u TEXT UNIQUE, x);
           CREATE TABLE b (k TEXT PRIMARY KEY);
           CREATE TABLE c (k TEXT PRIMARY KEY, n INTEGER) STRICT, WITHOUT ROWID;
           CREATE TABLE d (k INTEGER PRIMARY KEY) WITHOUT ROWID;
           CREATE TABLE e (k TEXT, n INTEGER, PRIMARY KEY (k, n)) STRICT;
           CREATE TABLE f (k INTEGER, PRIMARY KEY (k));"],
    );
    assert_eq!(
        shape,
        r#"table a
  id i64 default
  t text default
  b bytes null
  r f64 null
  o bool
  u text null
  x bytes null
  primary key ["id"]
  unique ["u"]
table b
  k text null
  primary key ["k"]
table c
  k text
  n i64 null
  primary key ["k"]
table d
  k i64
  primary key ["k"]
table e
  k text
  n i64
  primary key ["k", "n"]
table f
  k i64 default
  primary key ["k"]"#
    );
}
