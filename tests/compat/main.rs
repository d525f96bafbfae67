//! What consumers of the two existing crates import: every path with its signature, and what the functions over
//! a pool do. They need a Postgres server as the conformance suite does.

#![cfg(all(feature = "compat", feature = "sqlite", feature = "postgres"))]

#[path = "../conformance/harness.rs"]
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the conformance suite")]
mod harness;
mod over_a_pool;
mod paths;

#[test]
fn every_feature_of_the_existing_crates_is_here() {
    let manifest = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).expect("the manifest");
    let (_, rest) = manifest.split_once("\n[features]\n").expect("the features");
    let (features, _) = rest.split_once("\n[").expect("their end");
    for (feature, means) in [
        ("core", "ff-core/core"),
        ("streaming", "ff-core/streaming"),
        ("suspension", "ff-core/suspension"),
        ("observability", "ff-observability?/enabled"),
    ] {
        assert!(features.lines().any(|line| line == format!("{feature} = [\"{means}\"]")), "{feature}");
    }
}
