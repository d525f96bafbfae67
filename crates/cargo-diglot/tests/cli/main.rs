//! The command line as its users run it, in projects made for the purpose. Needs the programs of a Postgres
//! server, or the URL of one in `DIGLOT_POSTGRES_URL`.

mod adopting;
mod bad_input;
mod baseline;
mod book;
mod cargo_build;
mod citus;
mod common;
mod compiles;
mod completions;
mod drafts;
mod drift;
mod effects;
mod explain;
mod fix;
mod formats;
mod hooks;
mod layouts;
mod lists;
mod locks;
mod lsp;
mod mcp;
mod migrate;
mod migrations;
mod prepare;
mod project;
mod review;
mod spread;
mod steps;
mod trying;
mod unseen;
mod verify;
mod with_postgres;
mod workspace;
