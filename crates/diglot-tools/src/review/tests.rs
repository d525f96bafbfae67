//! What a review shows, and that nothing in a file can become markup.

use super::{Plans, Request, Version, compile, html, markdown};
use diglot::answers::{self, Described, Record};
use diglot::config::Config;
use diglot::dialect::Dialect;
use diglot::evidence::{Evidence, Record as Recorded, Scope, VERSION, Verdict, Witness};
use diglot::source::{SourceFile, Sources};
use diglot::{EmittedText, Inputs};

const SQLITE_SCHEMA: &str = "CREATE TABLE job (id INTEGER NOT NULL PRIMARY KEY, state TEXT NOT NULL, owner TEXT, n INTEGER NOT NULL);\n\
     CREATE TABLE lane (name TEXT NOT NULL PRIMARY KEY);";
const PG_SCHEMA: &str = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, state text NOT NULL, owner text, n bigint NOT NULL);\n\
     CREATE TABLE lane (name text COLLATE \"C\" NOT NULL PRIMARY KEY);";

const TAKE: &str =
    "-- Gives a job away.\n-- name: job_take :exec\nUPDATE job\n   SET state = 'taken'\n WHERE id = :id;\n";
const LIST: &str = "-- name: lane_list :many\nSELECT name\n  FROM lane\n ORDER BY name;\n";
const OWNER: &str = "-- name: job_owner :opt\nSELECT owner\n  FROM job\n WHERE id = :id";

fn project(files: &[(&str, &str)]) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/sqlite/0001_all.sql", SQLITE_SCHEMA));
    sources.add(SourceFile::new("schema/pg/0001_all.sql", PG_SCHEMA));
    for (path, text) in files {
        sources.add(SourceFile::new(format!("sql/{path}.sql"), *text));
    }
    Inputs { config: Config::default(), sources, ..Inputs::default() }
}

/// Two nouns: one pair that is equal, one that is declared to differ, one that is found to differ.
fn three() -> Inputs {
    let declared = OWNER.replace(":opt\n", ":opt\n-- diverges(lock): SQLite has one writer\n");
    let sqlite = format!("{TAKE}\n{declared};\n");
    let pg = format!("{TAKE}\n{OWNER}\n   FOR UPDATE;\n");
    let list = LIST.replace("ORDER BY name", "ORDER BY name DESC");
    project(&[("sqlite/job", &sqlite), ("pg/job", &pg), ("sqlite/lane", LIST), ("pg/lane", &list)])
}

fn page(inputs: &Inputs, before: Option<&Inputs>, plans: &Plans) -> [String; 2] {
    let compiled = compile(inputs);
    let old = before.map(|inputs| (inputs, compile(inputs)));
    let request = Request {
        title: "demo",
        now: Version { inputs, compiled: &compiled },
        before: old.as_ref().map(|(inputs, compiled)| ("main~1", Version { inputs, compiled })),
        plans,
    };
    [html(&request), markdown(&request)]
}

/// The part of a page about one statement.
fn article<'a>(page: &'a str, anchor: &str) -> &'a str {
    let start = page.find(&format!("<article id=\"{anchor}\"")).unwrap_or_else(|| panic!("no {anchor} in {page}"));
    let length = page[start..].find("</article>").unwrap();
    &page[start..start + length]
}

#[test]
fn every_pair_stands_with_its_state_its_tables_and_its_reasons() {
    let [page, _] = page(&three(), None, &Plans::new());
    let take = article(&page, "job.job_take");
    assert!(take.contains("data-state=\"equal\"") && take.contains("data-tables=\"job\""), "{take}");
    assert!(take.contains("Gives a job away.") && !take.contains("-mark"), "{take}");
    let owner = article(&page, "job.job_owner");
    assert!(owner.contains("data-state=\"declared\"") && owner.contains("SQLite has one writer"), "{owner}");
    assert!(owner.contains("<span class=\"k declared-mark\">FOR</span>"), "{owner}");
    let list = article(&page, "lane.lane_list");
    assert!(list.contains("data-state=\"finding\"") && list.contains("order-differs"), "{list}");
    assert!(list.contains("finding-mark"), "{list}");
    assert!(page.contains("<b>3</b> statements:</li>") && page.contains("<b>1</b> with findings</a>"), "{page}");
    assert!(page.contains("<p class=\"dim\">1 finding. Of "), "{page}");
}

/// The engines' rows are the same: the pair is equal, and every fact that differs in words says by what.
#[test]
fn what_rows_settled_is_equal_and_says_so() {
    let count = |sql: &str| format!("-- name: job_count :one\n{sql};\n");
    let (sqlite, pg) = (
        count("SELECT sum(column1) AS n FROM (VALUES (1), (2)) AS v"),
        count("SELECT count(*) AS n FROM generate_series(1, 3) AS i"),
    );
    let mut inputs = project(&[("sqlite/job", &sqlite), ("pg/job", &pg)]);
    let record = |text: &EmittedText| {
        let rows = Some(vec![vec!["3".to_owned()]]);
        (answers::key(text), Record { rows, ..answers::record(text, &Described::default()) })
    };
    let records = compile(&inputs).texts.iter().map(record).collect();
    inputs.answers = Some(answers::index(&inputs, &records));
    let [page, markdown] = page(&inputs, None, &Plans::new());
    let pair = article(&page, "job.job_count");
    assert!(pair.contains("data-state=\"equal\"") && pair.contains("the same by rows"), "{pair}");
    assert!(pair.contains("<span class=\"badge equal\">by rows</span>") && !pair.contains("-mark"), "{pair}");
    assert!(!markdown.contains("job_count"), "{markdown}");
}

#[test]
fn what_the_baseline_knows_is_shown_as_that() {
    let mut inputs = three();
    assert!(diglot::draft_baseline(&mut inputs).text.is_some());
    let [page, comment] = page(&inputs, None, &Plans::new());
    let list = article(&page, "lane.lane_list");
    assert!(list.contains("data-state=\"known\"") && list.contains("1 known, see diglot.baseline"), "{list}");
    assert!(page.contains("<b>1</b> in the baseline</a></li>"), "{page}");
    assert!(page.contains("<p class=\"dim\">0 findings, 1 in the baseline. Of "), "{page}");
    assert!(comment.contains("1 known, see diglot.baseline.") && comment.contains("order-differs"), "{comment}");
}

#[test]
fn a_plan_stands_with_its_statement() {
    let plans = Plans::from([(("job_take".to_owned(), Dialect::Pg), "Update on job\n  <Index Scan>".to_owned())]);
    let [page, _] = page(&three(), None, &plans);
    assert!(article(&page, "job.job_take").contains("<code class=\"l\">  &lt;Index Scan&gt;</code>"));
    assert_eq!(page.matches("<summary>Plans</summary>").count(), 1);
}

#[test]
fn since_a_revision_only_what_changed_is_shown() {
    let before = three();
    let sqlite = before.sources.iter().find(|(_, file)| file.path == "sql/sqlite/job.sql").unwrap().1.text.clone();
    let pg = before.sources.iter().find(|(_, file)| file.path == "sql/pg/job.sql").unwrap().1.text.clone();
    let edit = |text: &str| text.replace("'taken'", "'given'") + "\n-- name: job_gone :exec\nDELETE FROM job;\n";
    let now = project(&[("sqlite/job", &edit(&sqlite)), ("pg/job", &edit(&pg))]);
    let [html, text] = page(&now, Some(&before), &Plans::new());
    let take = article(&html, "job.job_take");
    assert!(take.contains("<span class=\"badge change\">changed</span>"), "{take}");
    assert!(take.contains("<span class=\"s deleted\">&#39;taken&#39;</span>"), "{take}");
    assert!(take.contains("<span class=\"s inserted\">&#39;given&#39;</span>"), "{take}");
    assert!(article(&html, "job.job_gone").contains("badge change\">added"));
    assert!(article(&html, "lane.lane_list").contains("badge change\">removed"));
    assert!(!html.contains("id=\"job.job_owner\""), "nothing happened to it");
    assert!(html.contains("1 changed, 1 added, 1 removed, 0 judged anew; 1 unchanged"));
    assert!(text.contains("-   SET state = 'taken'\n+   SET state = 'given'\n"), "{text}");
    assert!(!text.contains("job_owner"), "{text}");
}

#[test]
fn what_is_said_anew_of_an_old_text_is_shown() {
    let (before, mut now) = (project(&[("sqlite/lane", LIST), ("pg/lane", LIST)]), Inputs::default());
    for (_, file) in before.sources.iter() {
        let other = file.text.replace("TABLE lane (name text", "TABLE lanes (name text");
        now.sources.add(SourceFile::new(file.path.clone(), other));
    }
    let [html, text] = page(&now, Some(&before), &Plans::new());
    assert!(article(&html, "lane.lane_list").contains("judged anew"));
    assert!(html.contains("<code>schema/pg/0001_all.sql</code> changed"));
    assert!(text.contains("* `schema/pg/0001_all.sql` changed"), "{text}");
}

#[test]
fn markdown_tells_what_differs_and_leaves_out_what_is_equal() {
    let [_, text] = page(&three(), None, &Plans::new());
    assert!(text.contains("| 3 | 1 | 1 | 0 | 1 |"), "{text}");
    assert!(text.contains("* `diverges: lock` SQLite has one writer\n"), "{text}");
    assert!(text.contains("**error** `order-differs`"), "{text}");
    assert!(!text.contains("job_take"), "{text}");
}

#[test]
fn markdown_fits_a_comment_and_says_what_is_left_out() {
    let mut files = (String::new(), String::new());
    for at in 0..2_000 {
        files.0.push_str(&format!("-- name: job_a{at} :exec\nDELETE FROM job WHERE id = :id;\n"));
        files.1.push_str(&format!("-- name: job_a{at} :exec\nDELETE FROM job WHERE n = :id;\n"));
    }
    let [_, text] = page(&project(&[("sqlite/job", &files.0), ("pg/job", &files.1)]), None, &Plans::new());
    assert!(text.len() < 65_536, "{}", text.len());
    assert!(text.trim_end().ends_with("more do not fit here; `cargo diglot review` shows them."), "{text}");
}

/// Tries to leave a comment, an attribute, a script, a fence and a code span.
const HOSTILE: &str = "--> </script></code></pre><script>alert(1)</script><img src=x onerror=alert(1)> \
                       \" onmouseover=\"alert(1) ' autofocus ``` </details> [x](javascript:1) @all \u{202e}";

#[test]
fn nothing_in_a_file_becomes_markup() {
    let quoted = HOSTILE.replace(['\'', '"'], "''");
    let identifier = HOSTILE.replace('"', "\"\"");
    let body = format!(
        "-- {HOSTILE}\n-- name: job_take :exec\n-- allow(shard-key): {HOSTILE}\nUPDATE job -- {HOSTILE}\n   \
         SET state = '{quoted}', owner = \"{identifier}\" WHERE id = :id;\n\
         -- name: job_{HOSTILE} :exec\nDELETE FROM job;\n-- name: job_x :one\nSELECT 1 AS \"{identifier}\" FROM \"{identifier}\";\n"
    );
    let file = format!("job{HOSTILE}");
    let mut inputs = project(&[("sqlite/job", &body), ("pg/job", &body), (&format!("pg/{file}"), &body)]);
    let create = format!("CREATE TABLE \"{identifier}\" (a TEXT NOT NULL);");
    inputs.sources.add(SourceFile::new("schema/sqlite/0002_more.sql", create.as_str()));
    let plans = Plans::from([(("job_take".to_owned(), Dialect::Sqlite), HOSTILE.to_owned())]);
    let compiled = compile(&inputs);
    let before = three();
    let old = compile(&before);
    let now = Version { inputs: &inputs, compiled: &compiled };
    for before in [None, Some((HOSTILE, Version { inputs: &before, compiled: &old }))] {
        let request = Request { title: HOSTILE, now, before, plans: &plans };
        let page = html(&request);
        assert!(page.matches("alert(1)").count() > 6, "the text itself is shown: {page}");
        assert_eq!(page.matches("<script").count(), 1, "{page}");
        assert_eq!(page.matches("</script").count(), 1);
        assert_eq!(page.matches("<img").count(), 0);
        assert_eq!(page.matches("\" onmouseover").count(), 0);
        assert!(!page.contains('\u{202e}'));
        tags_are_ours(&page);

        let text = markdown(&request);
        assert!(text.matches("alert").count() > 2, "{text}");
        let outside = without_code(&text);
        for bad in ["<script", "<img", "](", "@all"] {
            assert!(!outside.contains(bad), "{bad} in {outside}");
        }
        assert_eq!(outside.matches("<details>").count(), outside.matches("</details>").count(), "{outside}");
    }
}

/// Every tag of a page is one that the renderer writes, with attributes that it writes.
fn tags_are_ours(page: &str) {
    let body = &page[page.find("<body>").unwrap()..page.find("<script>").unwrap()];
    let attributes = [
        "class",
        "href",
        "id",
        "data-noun",
        "data-state",
        "data-tables",
        "data-table",
        "data-n",
        "data-page",
        "tabindex",
        "type",
        "title",
        "role",
        "placeholder",
        "autocomplete",
        "aria-keyshortcuts",
        "aria-live",
        "aria-label",
        "value",
        "colspan",
        "scope",
        "hidden",
        "open",
    ];
    for tag in body.split('<').skip(1) {
        let (inside, _) = tag.split_once('>').unwrap_or_else(|| panic!("an open tag: {tag}"));
        // With the values gone, names remain.
        let names: String = inside.split('"').step_by(2).collect::<Vec<_>>().join("");
        let mut words = names.split_whitespace().map(|word| word.trim_end_matches('='));
        let name = words.next().unwrap_or_default().trim_start_matches('/');
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()) && !name.is_empty(), "{tag}");
        for word in words {
            assert!(attributes.contains(&word), "{word} in <{inside}>");
        }
    }
}

/// Markdown without its blocks of code and its code spans, as CommonMark finds them.
fn without_code(text: &str) -> String {
    let mut kept = String::new();
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let run: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if run.len() >= open.len() && line.trim_start_matches('`').trim().is_empty() => fence = None,
            Some(_) => {}
            None if run.len() >= 3 && !line[run.len()..].contains('`') => fence = Some(run),
            None => kept.push_str(&without_spans(line)),
        }
        kept.push('\n');
    }
    kept
}

fn without_spans(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        kept.push_str(&rest[..start]);
        if kept.ends_with('\\') {
            kept.push('`');
            rest = &rest[start + 1..];
            continue;
        }
        let run: String = rest[start..].chars().take_while(|c| *c == '`').collect();
        let inside = &rest[start + run.len()..];
        let mut at = 0;
        let end = loop {
            let Some(found) = inside[at..].find(&run).map(|found| at + found) else { break None };
            let length = inside[found..].chars().take_while(|c| *c == '`').count();
            if length == run.len() {
                break Some(found);
            }
            at = found + length;
        };
        match end {
            Some(end) => rest = &inside[end + run.len()..],
            None => {
                kept.push_str(&run);
                rest = inside;
            }
        }
    }
    kept + rest
}

/// A queue whose place is locked before the job by one statement, and after it by another.
#[test]
fn the_locks_are_drawn_with_their_circles_and_without_markup_of_names() {
    let schema = "CREATE TABLE job (id bigint NOT NULL PRIMARY KEY, state text NOT NULL);\n\
                  CREATE TABLE \"a<b\" (id bigint NOT NULL PRIMARY KEY, state text NOT NULL);";
    let statement = |name: &str, table: &str| {
        format!(
            "-- name: {name} :opt\n-- only: pg — it is about locks\nSELECT state FROM {table} WHERE id = :id FOR UPDATE;\n"
        )
    };
    let text = statement("job_lock", "job") + &statement("job_place", "\"a<b\"");
    let drawn = |settings: &str| {
        let mut sources = Sources::default();
        sources.add(SourceFile::new("schema/pg/0001_all.sql", schema));
        sources.add(SourceFile::new("sql/pg/job.sql", text.as_str()));
        let config = Config::parse(settings, "diglot.toml").unwrap();
        let inputs = Inputs { config, sources, ..Inputs::default() };
        let [page, _] = page(&inputs, None, &Plans::new());
        let Some(start) = page.find("<section class=\"locks\"") else { return String::new() };
        page[start..start + page[start..].find("</section>").unwrap()].to_owned()
    };
    assert_eq!(drawn(""), "");
    assert!(drawn("[locks]").contains("No statement waits for a row while it holds another."));

    let down = "[locks]\n[transactions]\ndown = [\"job_lock\", \"job_place\"]\n";
    let text = drawn(down);
    assert!(text.contains("There is no circle.") && !text.contains("arc circle"), "{text}");
    assert!(text.contains("<title>job → a&lt;b: job_place</title>") && !text.contains("a<b"), "{text}");
    assert!(text.contains("role=\"img\"") && text.contains("<a href=\"#job.job_place\">job_place</a>"), "{text}");
    assert!(text.find(">job</text>") < text.find(">a&lt;b</text>"), "{text}");
    assert_eq!(drawn(down), text);

    let both = format!("{down}up = [\"job_place\", \"job_lock\"]\n");
    let text = drawn(&both);
    assert_eq!(text.matches("class=\"arc circle\"").count(), 2, "{text}");
    assert!(text.contains("2 of them are in circles."), "{text}");
}

#[test]
fn what_a_shared_part_is_given_stands_at_its_fold() {
    let part = "-- part: found(:state)\nWITH found AS (SELECT id FROM job WHERE state = :state);\n\n";
    let read =
        "-- name: job_live :many\n-- use: found(state = 'live')\nSELECT found.id FROM found ORDER BY found.id;\n";
    let page_text = format!("{part}{read}");
    let inputs = project(&[("sqlite/job", &page_text), ("pg/job", &page_text)]);
    let [page, _] = page(&inputs, None, &Plans::new());
    let article = article(&page, "job.job_live");
    assert!(article.contains("<summary>Shared: found (state = &#39;live&#39;)</summary>"), "{article}");
}

#[test]
fn what_a_statement_has_from_a_shared_part_stands_folded_beside_it() {
    let part = "-- part: live\nWITH live AS (SELECT id FROM job WHERE state = 'live');\n\n";
    let read = "-- name: job_live :many\n-- use: live\nSELECT live.id FROM live ORDER BY live.id;\n";
    let page_text = format!("{part}{read}");
    let inputs = project(&[("sqlite/job", &page_text), ("pg/job", &page_text)]);
    let [page, _] = page(&inputs, None, &Plans::new());
    let article = article(&page, "job.job_live");
    let fold = article.find("<summary>Shared: live</summary>").expect("a fold");
    let own = article[fold..].find("</details>").expect("its end");
    assert_eq!(article[fold..fold + own].matches("<figure class=\"rows-1\">").count(), 2, "{article}");
    assert!(article[fold..fold + own].contains("sql/pg/job.sql:2"), "{article}");
}

/// One pair with a verdict on it.
fn weighed(verdict: Verdict) -> Inputs {
    let page = |sql: &str| format!("-- name: job_some :many\n{sql};\n");
    let (sqlite, pg) =
        ("SELECT n FROM job WHERE n >= :least GROUP BY n", "SELECT DISTINCT n FROM job WHERE n >= :least");
    let mut inputs = project(&[("sqlite/job", &page(sqlite)), ("pg/job", &page(pg))]);
    let pairs = compile(&inputs).weighed.into_iter().map(|pair| {
        let record = Recorded { basis: pair.basis, verdict: verdict.clone() };
        (pair.name, record)
    });
    let evidence = Evidence { version: VERSION, engines: String::new(), pairs: pairs.collect(), steps: Vec::new() };
    inputs.evidence = Some(evidence.to_text());
    inputs
}

fn shown(verdict: Verdict) -> [String; 2] {
    let [page, comment] = page(&weighed(verdict), None, &Plans::new());
    [article(&page, "job.job_some").to_owned(), comment]
}

#[test]
fn a_pair_that_differs_shows_its_database_as_tables() {
    let row = [("id", "int:1"), ("state", "text:<b>")].map(|(name, word)| (name.to_owned(), word.to_owned())).into();
    let witness = Witness {
        what: "the rows differ".into(),
        rows: [("job".to_owned(), vec![row])].into(),
        args: [("least".to_owned(), "int:0".to_owned())].into(),
        sqlite: vec!["id = 1".into()],
        pg: vec!["no row".into()],
        ..Witness::default()
    };
    let [pair, comment] = shown(Verdict::Differs(Box::new(witness.clone())));
    let start = pair.find("<section class=\"ran witness\">").unwrap();
    let end = start + pair[start..].find("</section>").unwrap();
    insta::assert_snapshot!(&pair[start..end]);
    assert!(!pair.contains("<b>note:</b> job holds"), "said twice: {pair}");
    assert!(comment.contains("job holds\n  id  state\n  1   '<b>'\nwith least = 0\nSQLite gives id = 1"), "{comment}");
    let excluded_by = [("numbers_fit".to_owned(), ["job.n".to_owned()].into())].into();
    let [pair, _] = shown(Verdict::Differs(Box::new(Witness { edge: true, excluded_by, ..witness })));
    assert!(
        pair.contains("data-state=\"warning\"") && pair.contains("only on a number at the end of its width"),
        "{pair}"
    );
}

#[test]
fn a_pair_that_is_the_same_when_run_is_equal_and_says_how_far_it_was_tried() {
    let scope = Scope { databases: 12, rows: 2, values: 5, noticed: 7, changes: 8, ..Scope::default() };
    let [pair, _] = shown(Verdict::Same(scope));
    assert!(pair.contains("data-state=\"equal\"") && !pair.contains("-mark"), "{pair}");
    let start = pair.find("<details class=\"more ran\">").unwrap();
    let end = start + pair[start..].find("</details>").unwrap();
    insta::assert_snapshot!(&pair[start..end]);
}

#[test]
fn a_pair_of_which_running_says_nothing_says_why() {
    let [pair, comment] = shown(Verdict::Unknown { reason: "SQLite takes no <row>".into() });
    assert!(pair.contains("Running it says nothing: SQLite takes no &lt;row&gt;."), "{pair}");
    assert!(comment.contains("Running it says nothing"), "{comment}");
}
