//! The generated statements: one trait that the connections of both databases implement, and per noun a module of
//! parameter and row structs.

include!(concat!(env!("OUT_DIR"), "/statements.rs"));
