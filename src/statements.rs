//! The generated statements: one trait that both connections implement, and per noun a module of parameter
//! and row structs. The SQL is in `sql/`; what it becomes is in `OUT_DIR`.

include!(concat!(env!("OUT_DIR"), "/statements.rs"));
