//! `cargo diglot explain`.

use crate::project::Project;

#[test]
fn every_rule_can_be_explained_by_the_name_in_the_list() {
    let project = Project::unprepared();
    let list = project.run(&["explain"]);
    assert_eq!(list.code, Some(0));
    let names: Vec<&str> = list.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"engine-refuses"), "{names:?}");
    for name in names {
        let page = project.run(&["explain", name]);
        assert_eq!(page.code, Some(0), "{name}");
        assert!(page.stdout.starts_with(&format!("{name}: ")), "{}", page.stdout);
    }
}

#[test]
fn a_rule_that_does_not_exist_is_answered_with_the_one_that_was_meant() {
    let ended = Project::unprepared().run(&["explain", "engine-refused"]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.stderr, "error: there is no rule `engine-refused`; did you mean `engine-refuses`?\n");
}

#[test]
fn an_explanation_is_text_and_its_markdown_is_an_option() {
    let project = Project::unprepared();
    let text = project.run(&["explain", "order-differs"]).stdout;
    assert!(text.contains("\nWhat it finds\n") && text.contains("    ORDER BY priority DESC"), "{text}");
    assert!(!text.contains(['#', '`', '\u{1b}']), "{text}");
    let markdown = project.run(&["explain", "order-differs", "--format", "markdown"]).stdout;
    assert!(markdown.contains("\n# What it finds\n") && markdown.contains("```text\n"), "{markdown}");
    let coloured = project.run(&["explain", "order-differs", "--color", "always"]).stdout;
    assert!(coloured.contains("\u{1b}[1mWhat") && !coloured.contains('`'), "{coloured}");
}
