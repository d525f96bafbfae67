//! `cargo diglot lsp`, by its protocol and by an editor.

mod client;
mod editor;
mod keystroke;

use serde_json::{Value, json};

use crate::project::Project;
use client::{Client, range};

const PG: &str = "sql/pg/job.sql";
const SQLITE: &str = "sql/sqlite/job.sql";

/// The rules of what was told of a file.
fn rules(found: &[Value]) -> Vec<&str> {
    found.iter().filter_map(|finding| finding["code"].as_str()).collect()
}

#[test]
fn findings_come_while_somebody_types_and_go_again() {
    let project = Project::clean();
    let mut editor = Client::start(&project.path("."));
    editor.open(PG);
    editor.replace(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    let found = editor.told_of(PG, |found| !found.is_empty());
    assert_eq!(rules(&found), ["where-differs"]);
    assert_eq!(found[0]["severity"], 1);
    assert_eq!(editor.text_at(PG, &found[0]["range"]), "<=");
    // Both pages have it, each with the other as its context.
    let facing = editor.told_of(SQLITE, |found| !found.is_empty());
    assert_eq!(rules(&facing), ["where-differs"]);
    let other = &facing[0]["relatedInformation"][0]["location"]["uri"];
    assert_eq!(*other, json!(editor.url(PG)));
    editor.replace(PG, "job.due_ms <= :now_ms", "job.due_ms < :now_ms");
    editor.told_of(PG, <[Value]>::is_empty);
    editor.told_of(SQLITE, <[Value]>::is_empty);
    assert_eq!(editor.end(), Some(0));
    // Nothing was saved.
    assert!(!project.read(PG).contains("<="));
}

#[test]
fn places_are_counted_in_units_of_utf_16() {
    let project = Project::clean();
    let mut editor = Client::start(&project.path("."));
    editor.open(PG);
    editor.replace(PG, "   AND job.due_ms < :now_ms", "/* 😀😀 */ AND job.due_ms > :now_ms");
    let found = editor.told_of(PG, |found| !found.is_empty());
    assert_eq!(editor.text_at(PG, &found[0]["range"]), ">");
    let character = found[0]["range"]["start"]["character"].as_u64().unwrap();
    assert_eq!(character, "/* .... */ AND job.due_ms ".len() as u64);
}

#[test]
fn a_place_is_asked_about() {
    let project = Project::clean();
    let mut editor = Client::start(&project.path("."));
    editor.open(PG);
    let hover = editor.ask_at("textDocument/hover", PG, "seen_ms, lane", json!({}));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("* Postgres: `i64`, declared `bigint`"), "{hover}");
    let table = editor.ask_at("textDocument/definition", PG, "lane ON", json!({}));
    assert_eq!(table["uri"], json!(editor.url("schema/pg/0001_job.sql")));
    let facing = editor.ask_at("textDocument/implementation", PG, "SET owner", json!({}));
    assert_eq!(facing["uri"], json!(editor.url(SQLITE)));
    let uses =
        editor.ask_at("textDocument/references", PG, "owner,\n", json!({ "context": { "includeDeclaration": true } }));
    assert_eq!(uses.as_array().map(Vec::len), Some(2), "{uses}");
    let outline = editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": editor.url(PG) } }));
    assert_eq!(outline.as_array().map(Vec::len), Some(4));
    let all = editor.ask("workspace/symbol", json!({ "query": "take" }));
    assert_eq!(all.as_array().map(Vec::len), Some(2));
}

#[test]
fn what_may_be_written_is_offered_on_a_page_that_is_broken() {
    let project = Project::clean();
    let mut editor = Client::start(&project.path("."));
    editor.open(PG);
    editor.replace(PG, "AND owner IS NULL", "AND o = :");
    let offered = editor.ask_after("textDocument/completion", PG, "AND o = :", json!({}));
    let labels: Vec<&str> = offered.as_array().unwrap().iter().filter_map(|one| one["label"].as_str()).collect();
    assert!(labels.contains(&"owner") && labels.contains(&"due_ms"), "{labels:?}");
    assert!(!labels.contains(&"priority"), "{labels:?}");
}

#[test]
fn a_parameter_gets_another_name_on_both_pages() {
    let project = Project::clean();
    let mut editor = Client::start(&project.path("."));
    editor.open(PG);
    editor.open(SQLITE);
    let name = editor.ask_at("textDocument/prepareRename", PG, "now_ms\n ORDER", json!({}));
    assert_eq!(editor.text_at(PG, &name), "now_ms");
    let changes = editor.ask_at("textDocument/rename", PG, "now_ms\n ORDER", json!({ "newName": "at_ms" }));
    editor.apply(&changes);
    for page in [PG, SQLITE] {
        assert_eq!(editor.text(page).matches(":at_ms").count(), 1, "{}", editor.text(page));
    }
    let refused = editor.refused_at("textDocument/rename", PG, "at_ms\n ORDER", json!({ "newName": "lane" }));
    assert!(refused["message"].as_str().unwrap().contains("another parameter `lane`"), "{refused}");
    // Saved as it is, nothing is wrong with it: what the engines were asked has numbers for names.
    for page in [PG, SQLITE] {
        project.write(page, editor.text(page));
    }
    assert_eq!(project.check().code, Some(0), "{}", project.check().seen());
}

#[test]
fn a_finding_has_its_way_out() {
    let project = Project::clean();
    let mut editor = Client::start(&project.path("."));
    editor.open(PG);
    editor.replace(PG, "ORDER BY job.priority DESC", "ORDER BY job.priority");
    let found = editor.told_of(PG, |found| !found.is_empty());
    let actions = editor.actions(PG, &found[0]["range"], json!({ "diagnostics": [found[0]] }));
    let declare =
        actions.iter().find(|action| action["title"].as_str().unwrap().contains("-- diverges(order")).unwrap();
    assert_eq!(declare["diagnostics"][0]["code"], "order-differs");
    editor.apply(&declare["edit"]);
    assert!(editor.text(PG).contains("-- name: job_due :many\n-- diverges(order"), "{}", editor.text(PG));
    let found = editor.told_of(PG, |found| rules(found) == ["missing-reason"]);
    editor.replace(PG, "<why the pages may differ here>", "the oldest one is not urgent");
    editor.told_of(PG, |now| rules(now) != rules(&found));
    // What nobody has to look at can be done for the whole file.
    editor.replace(PG, "job.priority,", "job.priority DESC,");
    editor.told_of(PG, |found| rules(found) == ["unused-divergence"]);
    let all = editor.actions(PG, &range((0, 0), (0, 0)), json!({ "diagnostics": [], "only": ["source.fixAll"] }));
    editor.apply(&all[0]["edit"]);
    assert_eq!(editor.text(PG), project.read(PG));
    editor.told_of(PG, <[Value]>::is_empty);
}

#[test]
fn files_that_change_outside_of_the_editor_are_read_again() {
    let project = Project::clean();
    let mut editor = Client::start(&project.path("."));
    editor.open(PG);
    project.edit(SQLITE, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    let changes = json!({ "changes": [{ "uri": editor.url(SQLITE), "type": 2 }] });
    editor.tell("workspace/didChangeWatchedFiles", changes);
    assert_eq!(rules(&editor.told_of(PG, |found| !found.is_empty())), ["where-differs"]);
    // A file that is open counts as it is there, and as it is on the disk once it is closed.
    project.edit(PG, "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    editor.close(PG);
    editor.told_of(PG, |found| rules(found) != ["where-differs"]);
}

#[test]
fn settings_count_as_they_are_typed_and_broken_ones_are_found() {
    let project = Project::clean();
    project.write("diglot.toml", "");
    let mut editor = Client::start(&project.path("."));
    editor.open("diglot.toml");
    editor.replace("diglot.toml", "", "sql = 7\n");
    assert_eq!(rules(&editor.told_of("diglot.toml", |found| !found.is_empty())), ["bad-config"]);
    editor.replace("diglot.toml", "sql = 7\n", "");
    editor.told_of("diglot.toml", <[Value]>::is_empty);
}

#[test]
fn a_workspace_may_have_several_projects() {
    let (one, two) = (Project::clean(), Project::empty());
    for name in ["left", "right/deep"] {
        for file in [PG, SQLITE, "schema/pg/0001_job.sql", "schema/sqlite/0001_job.sql"] {
            two.write(&format!("{name}/{file}"), one.read(file));
        }
        two.write(&format!("{name}/diglot.toml"), "generate = false\n");
    }
    two.edit("right/deep/sql/pg/job.sql", "job.due_ms < :now_ms", "job.due_ms <= :now_ms");
    let mut editor = Client::start(&two.path("."));
    // Nothing is open: the folder was searched.
    assert_eq!(rules(&editor.told_of("right/deep/sql/pg/job.sql", |found| !found.is_empty())), ["where-differs"]);
    editor.open("left/sql/pg/job.sql");
    editor.replace("left/sql/pg/job.sql", "AND owner IS NULL", "AND owner IS NOT NULL");
    let found = editor.told_of("left/sql/sqlite/job.sql", |found| !found.is_empty());
    assert_eq!(rules(&found), ["where-differs"]);
    let all = editor.ask("workspace/symbol", json!({ "query": "job_due" }));
    assert_eq!(all.as_array().map(Vec::len), Some(4));
}

#[test]
fn nothing_that_is_written_takes_the_server_down() {
    let project = Project::clean();
    let mut editor = Client::start(&project.path("."));
    editor.open(PG);
    let deep = format!("SELECT {}1{};", "(".repeat(5_000), ")".repeat(5_000));
    for text in ["", "'", "/*", "-- name:", "-- name: x :one\n", "\u{0}\u{feff}", "-- name: a :one\nSELECT 'é", &deep]
    {
        editor.set(PG, text);
        for method in ["hover", "definition", "implementation", "completion", "prepareRename"] {
            editor.ask_end(&format!("textDocument/{method}"), PG);
        }
    }
    // Messages that make no sense are refused, one by one.
    let refused = editor.refused("textDocument/hover", json!({ "nonsense": true }));
    assert_eq!(refused["code"], -32602);
    assert_eq!(editor.refused("textDocument/unheard", json!({}))["code"], -32601);
    let elsewhere = json!({ "textDocument": { "uri": "untitled:1" }, "position": { "line": 0, "character": 0 } });
    assert!(editor.ask("textDocument/hover", elsewhere).is_null());
    editor.set(PG, "SELECT 1;");
    editor.told_of(PG, |found| rules(found).contains(&"missing-statement"));
    editor.set(PG, &project.read(PG));
    editor.told_of(PG, <[Value]>::is_empty);
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn a_request_that_was_cancelled_before_its_turn_is_not_answered() {
    let project = Project::clean();
    let mut editor = Client::start(&project.path("."));
    editor.open(PG);
    let hover = json!({ "textDocument": { "uri": editor.url(PG) }, "position": { "line": 2, "character": 9 } });
    // In one write, so that all of it is there when the first of it is read.
    let answers = editor.ask_and_cancel("textDocument/hover", &hover, 20);
    let cancelled = answers.iter().filter(|answer| answer["error"]["code"] == -32800).count();
    let answered = answers.iter().filter(|answer| answer["result"]["contents"].is_object()).count();
    assert_eq!((answers.len(), cancelled + answered), (20, 20), "{answers:?}");
}

#[test]
fn an_editor_that_leaves_without_a_word_is_an_error() {
    let project = Project::clean();
    assert_eq!(Client::start(&project.path(".")).leave(), Some(1));
}
