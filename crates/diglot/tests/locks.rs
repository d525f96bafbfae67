//! The lints of locks on small projects: where each fires, where it is silent, what the graph says.

use std::collections::BTreeSet;

use diglot::config::Config;
use diglot::source::{SourceFile, Sources};
use diglot::{Inputs, compile, rules};

/// Jobs that wait in a queue, which a trigger keeps; permits and steps of jobs.
const SCHEMA: &str = "
CREATE TABLE job (id bigint PRIMARY KEY, state text NOT NULL, due_ms bigint NOT NULL);
CREATE TABLE queue (id bigint PRIMARY KEY, lane text NOT NULL);
CREATE TABLE permit (job_id bigint NOT NULL, permit_id bigint NOT NULL, worker text NOT NULL, PRIMARY KEY (job_id, permit_id));
CREATE TABLE step (job_id bigint NOT NULL, step bigint NOT NULL, state text NOT NULL, PRIMARY KEY (job_id, step));";
const TRIGGER: &str = "
CREATE FUNCTION queue_keep() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    waits boolean := NEW.state = 'waiting';
BEGIN
    IF waits THEN
        INSERT INTO queue (id, lane) VALUES (NEW.id, 'a') ON CONFLICT (id) DO NOTHING;
    ELSE
        DELETE FROM queue WHERE id = OLD.id;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER job_queue AFTER UPDATE ON job FOR EACH ROW
    WHEN (OLD.state = 'waiting' OR NEW.state = 'waiting') EXECUTE FUNCTION queue_keep();";
const TRY_LOCK: &str = "
CREATE FUNCTION job_try_lock(wanted bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM job WHERE id = wanted FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END
$$;";

/// Takes the queue's row first, as an upsert of the job follows.
const CLAIM: &str = "WITH picked AS (
  SELECT ready.id FROM queue AS ready ORDER BY ready.id LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE job SET state = 'active' FROM picked WHERE job.id = picked.id";
const BLOCK: &str = "UPDATE job SET state = 'blocked' WHERE id = :id";

fn inputs(settings: &str, schema: &[&str], statements: &[(&str, &str)]) -> Inputs {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/pg/0001_all.sql", schema.join("\n")));
    let text = |(name, sql): &(&str, &str)| format!("-- name: {name}\n-- only: pg — it is about locks\n{sql};\n");
    sources.add(SourceFile::new("sql/pg/case.sql", statements.iter().map(text).collect::<String>()));
    let config = Config::parse(settings, "diglot.toml").expect("settings");
    Inputs { config, sources, ..Inputs::default() }
}

/// The rule and the message of each finding.
fn found(settings: &str, schema: &[&str], statements: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    let findings = compile(&inputs(settings, schema, statements)).diagnostics;
    findings.into_iter().map(|finding| (finding.rule, finding.message)).collect()
}

fn rules_of(settings: &str, schema: &[&str], statements: &[(&str, &str)]) -> BTreeSet<&'static str> {
    found(settings, schema, statements).into_iter().map(|(rule, _)| rule).collect()
}

const NONE: [&str; 0] = [];

fn set<const N: usize>(rules: [&'static str; N]) -> BTreeSet<&'static str> {
    rules.into()
}

/// The rules that find something in a pair, and how many row locks its SQLite page holds without words.
fn pair(settings: &str, sqlite: &str, pg: &str) -> (BTreeSet<&'static str>, usize) {
    let mut sources = Sources::default();
    for (dialect, schema, sql) in [("sqlite", SQLITE_SCHEMA, sqlite), ("pg", PG_SCHEMA, pg)] {
        sources.add(SourceFile::new(format!("schema/{dialect}/0001_all.sql"), schema));
        sources.add(SourceFile::new(format!("sql/{dialect}/seat.sql"), format!("-- name: seat_state :opt\n{sql};\n")));
    }
    let config = Config::parse(settings, "diglot.toml").expect("settings");
    let compiled = compile(&Inputs { config, sources, ..Inputs::default() });
    (compiled.diagnostics.iter().map(|finding| finding.rule).collect(), compiled.stats.held_by_writer)
}
const SQLITE_SCHEMA: &str = "CREATE TABLE seat (id INTEGER PRIMARY KEY, state TEXT NOT NULL) STRICT;";
const PG_SCHEMA: &str = "CREATE TABLE seat (id bigint PRIMARY KEY, state text COLLATE \"C\" NOT NULL);";

#[test]
fn a_row_lock_is_held_by_the_one_writer_where_the_settings_say_so() {
    let read = "SELECT seat.state FROM seat WHERE seat.id = :id";
    for (wait, silent) in [("", true), (" SKIP LOCKED", true), (" NOWAIT", false)] {
        let locking = format!("{read} FOR UPDATE{wait}");
        assert_eq!(pair("[locks]", read, &locking), (set(["lock-differs"]), 0), "{wait}");
        let (rules, held) = pair("[locks]\nas_writer = [\"seat_*\"]", read, &locking);
        assert_eq!((rules.is_empty(), held), (silent, usize::from(silent)), "{wait}");
    }
    // A change of the Postgres page alone that leaves the lock out is found.
    assert_eq!(pair("[locks]\nas_writer = [\"seat_*\"]", read, read).0, set(["lock-differs"]));
    assert_eq!(pair("[locks]\nas_writer = [\"row_*\"]", read, read).0, set(NONE));
    // What holds anyway is not counted as what the settings say.
    let (plain, locking) = (
        "UPDATE seat SET state = 'taken' WHERE seat.id IN (SELECT free.id FROM seat AS free WHERE free.id = :id) RETURNING state",
        "UPDATE seat SET state = 'taken' WHERE seat.id IN (SELECT free.id FROM seat AS free WHERE free.id = :id FOR UPDATE) RETURNING state",
    );
    assert_eq!(pair("[locks]\nas_writer = [\"seat_*\"]", plain, locking).1, 0);
}

#[test]
fn a_trigger_closes_the_circle_of_a_claim() {
    let statements = [("case_claim :exec", CLAIM), ("case_block :exec", BLOCK)];
    let all = found("[locks]", &[SCHEMA, TRIGGER], &statements);
    assert!(all.contains(&("lock-order", "case_claim: waits for `job` while it holds `queue`".to_owned())), "{all:?}");
    // Without the trigger nobody waits for the queue's row.
    let alone = found("[locks]", &[SCHEMA], &statements);
    assert!(!alone.iter().any(|(rule, _)| *rule == "lock-order"), "{alone:?}");
    // Who has not asked is not told.
    assert_eq!(rules_of("", &[SCHEMA, TRIGGER], &statements), set(NONE));
}

#[test]
fn both_places_of_a_circle_are_shown() {
    let all =
        compile(&inputs("[locks]", &[SCHEMA, TRIGGER], &[("case_claim :exec", CLAIM), ("case_block :exec", BLOCK)]));
    let finding = all.diagnostics.iter().find(|finding| finding.rule == "lock-order").expect("a circle");
    let labels: Vec<&str> = finding.labels.iter().map(|label| label.text.as_str()).collect();
    assert_eq!(
        labels,
        [
            "updates `job`, and waits for it",
            "locks `queue` before",
            "case_block deletes `queue` by `job_queue`, holding `job`"
        ]
    );
}

#[test]
fn the_order_in_the_settings_says_which_side_is_wrong() {
    let statements = [("case_claim :exec", CLAIM)];
    assert!(rules_of("[locks]\norder = [\"job\", \"queue\"]", &[SCHEMA], &statements).contains("lock-order"));
    assert!(!rules_of("[locks]\norder = [\"queue\", \"job\"]", &[SCHEMA], &statements).contains("lock-order"));
}

#[test]
fn a_row_that_a_function_has_locked_is_no_new_lock() {
    let claim = CLAIM.replace("AS ready ", "AS ready WHERE job_try_lock(ready.id) ");
    let statements = [("case_claim :exec", claim.as_str()), ("case_block :exec", BLOCK)];
    assert_eq!(rules_of("[locks]", &[SCHEMA, TRIGGER, TRY_LOCK], &statements), set(NONE));
}

#[test]
fn a_function_that_cannot_be_read_is_named() {
    let hidden = TRY_LOCK.replace("PERFORM 1 FROM job WHERE id = wanted FOR UPDATE SKIP LOCKED", "EXECUTE 'SELECT 1'");
    let statements = [("case_try :many", "SELECT permit.worker FROM permit WHERE job_try_lock(permit.job_id)")];
    let all = found("[locks]", &[SCHEMA, &hidden], &statements);
    assert_eq!(all, [("lock-order", "case_try: what the function `job_try_lock` locks cannot be told".to_owned())]);
}

#[test]
fn what_a_cursor_reads_and_a_list_names_is_read() {
    let body = "BEGIN FOREACH one IN ARRAY ARRAY[wanted] LOOP \
                OPEN jobs NO SCROLL FOR SELECT id FROM job WHERE id = one FOR UPDATE SKIP LOCKED; \
                FETCH jobs INTO found; CLOSE jobs; END LOOP; RETURN found IS NOT NULL; END";
    let walked = format!(
        "CREATE FUNCTION job_walk(wanted bigint) RETURNS boolean LANGUAGE plpgsql AS $$ \
         DECLARE one bigint; jobs refcursor; found bigint; {body} $$;"
    );
    let statements = [("case_walk :many", "SELECT permit.worker FROM permit WHERE job_walk(permit.job_id)")];
    assert_eq!(found("[locks]", &[SCHEMA, &walked], &statements), []);
    let altered = format!("{walked}\nALTER FUNCTION job_walk(bigint) SET plan_cache_mode = 'force_custom_plan';");
    assert_eq!(found("[locks]", &[SCHEMA, &altered], &statements), []);
    let moved = walked.replace("SELECT id FROM job WHERE id = one FOR UPDATE SKIP LOCKED", "EXECUTE 'SELECT 1'");
    let all = found("[locks]", &[SCHEMA, &moved], &statements);
    assert_eq!(all, [("lock-order", "case_walk: what the function `job_walk` locks cannot be told".to_owned())]);
}

#[test]
fn what_a_transaction_locks_in_one_statement_it_holds_in_the_next() {
    let step = ("case_step :opt", "SELECT state FROM step WHERE job_id = :id AND step = :step FOR UPDATE");
    let job = ("case_job :opt", "SELECT state FROM job WHERE id = :id FOR UPDATE");
    let one = "up = [\"case_step\", \"case_job\"]";
    let other = "down = [\"case_job\", \"case_step\"]";
    let both = format!("[locks]\n[transactions]\n{one}\n{other}\n");
    assert!(rules_of(&both, &[SCHEMA], &[step, job]).contains("lock-order"));
    assert_eq!(rules_of(&format!("[locks]\n[transactions]\n{one}\n"), &[SCHEMA], &[step, job]), set(NONE));
    // A row of a job's own is free while the job is locked, whatever comes first.
    let under = format!("[locks]\nunder = {{ step = \"job\" }}\n[transactions]\n{other}\n");
    assert_eq!(rules_of(&under, &[SCHEMA], &[step, job]), set(NONE));
    let loose = format!("[locks]\nunder = {{ step = \"job\" }}\n[transactions]\n{one}\n");
    let message = "case_step: a row of `step` is locked without the row of `job` that it belongs to".to_owned();
    assert!(found(&loose, &[SCHEMA], &[step, job]).contains(&("lock-order", message)));
}

#[test]
fn what_skips_or_fails_waits_for_nothing() {
    for wait in ["SKIP LOCKED", "NOWAIT"] {
        let step = "SELECT state FROM step WHERE job_id = :id AND step = :step FOR UPDATE";
        let job = format!("SELECT state FROM job WHERE id = :id FOR UPDATE {wait}");
        let statements = [("case_step :opt", step), ("case_job :opt", job.as_str())];
        let both =
            "[locks]\n[transactions]\nup = [\"case_step\", \"case_job\"]\ndown = [\"case_job\", \"case_step\"]\n";
        assert_eq!(rules_of(both, &[SCHEMA], &statements), set(NONE), "{wait}");
    }
}

#[test]
fn several_rows_are_locked_in_an_order() {
    let text = "SELECT step.step FROM step WHERE step.job_id = :job_id ORDER BY step.step FOR UPDATE";
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_all :many", text)]), set(NONE));
    let loose = text.replace(" ORDER BY step.step", "");
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_all :many", loose.as_str())]), set(["lock-order"]));
    let end = "UPDATE step SET state = 'done' WHERE job_id = :job_id";
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_end :exec", end)]), set(["lock-order"]));
}

#[test]
fn a_fence_is_locked_before_it_is_asked() {
    let gate = "SELECT job.id FROM job JOIN permit ON permit.job_id = job.id
 WHERE job.id = :id AND permit.job_id = :id AND permit.permit_id = :permit_id AND permit.worker = :worker FOR UPDATE OF job";
    let message = "case_gate: waits for `job` and decides by `permit`, which it does not lock".to_owned();
    assert_eq!(found("[locks]", &[SCHEMA], &[("case_gate :opt", gate)]), [("stale-fence", message)]);
    let both = format!("{gate}, permit");
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_gate :opt", both.as_str())]), set(NONE));
    let skips = format!("{gate} SKIP LOCKED");
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_gate :opt", skips.as_str())]), set(NONE));
    // The statement that locks comes first, so what the next one reads is as it is now.
    let lock = ("case_lock :opt", "SELECT state FROM job WHERE id = :id FOR UPDATE");
    let listed = "[locks]\n[transactions]\nuse_permit = [\"case_lock\", \"case_gate\"]\n";
    assert_eq!(rules_of(listed, &[SCHEMA], &[lock, ("case_gate :opt", gate)]), set(NONE));
}

#[test]
fn a_write_is_not_decided_by_rows_of_before_the_wait() {
    let text = "UPDATE job SET state = 'ready' WHERE id = :id
   AND NOT EXISTS (SELECT 1 FROM permit WHERE permit.job_id = :id)";
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_release :exec", text)]), set(["stale-fence"]));
}

#[test]
fn a_sweep_passes_over_what_is_locked() {
    let text = "SELECT id FROM job WHERE due_ms < :now_ms ORDER BY id LIMIT :page FOR UPDATE";
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_due :many", text)]), set(["unbounded-wait"]));
    let skips = format!("{text} SKIP LOCKED");
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_due :many", skips.as_str())]), set(NONE));
    // One row by its key is waited for, unless it is periodic work that wants it.
    let one = "SELECT state FROM job WHERE id = :id FOR UPDATE";
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_lock :opt", one)]), set(NONE));
    let sweeps = "[locks]\nsweeps = [\"expire_*\"]\n[transactions]\nexpire_job = [\"case_lock\"]\n";
    let message = "case_lock: the sweep expire_job waits for `job`".to_owned();
    assert_eq!(found(sweeps, &[SCHEMA], &[("case_lock :opt", one)]), [("unbounded-wait", message)]);
}

#[test]
fn each_is_silenced_by_a_reason_and_a_reason_without_need_is_told() {
    let due = "SELECT id FROM job WHERE due_ms < :now_ms ORDER BY id LIMIT :page FOR UPDATE";
    for (rule, text) in [
        ("unbounded-wait", due),
        ("lock-order", "UPDATE step SET state = 'done' WHERE job_id = :job_id"),
        (
            "stale-fence",
            "UPDATE job SET state = 'a' WHERE id = :id AND EXISTS (SELECT 1 FROM permit WHERE permit.job_id = :id)",
        ),
    ] {
        let allowed = format!("-- allow({rule}): it is meant like this here\n{text}");
        let header = if text.starts_with("SELECT") { "case_one :many" } else { "case_one :exec" };
        assert_eq!(rules_of("[locks]", &[SCHEMA], &[(header, allowed.as_str())]), set(NONE), "{rule}");
        assert_eq!(rules_of("", &[SCHEMA], &[(header, allowed.as_str())]), set(["unused-allow"]), "{rule}");
    }
}

#[test]
fn the_graph_as_text_has_circles_first_and_both_places() {
    let statements = [("case_claim :exec", CLAIM), ("case_block :exec", BLOCK)];
    let text = diglot::lock_report(&inputs("[locks]", &[SCHEMA, TRIGGER], &statements));
    assert_eq!(
        text,
        "job -> queue  (circle)
  case_block
    holds: updates `job` at sql/pg/case.sql:9:1
    waits: inserts `queue` by `job_queue` at sql/pg/case.sql:9:1
  case_block
    holds: updates `job` at sql/pg/case.sql:9:1
    waits: deletes `queue` by `job_queue` at sql/pg/case.sql:9:1
queue -> job  (circle)
  case_claim
    holds: locks `queue` at sql/pg/case.sql:4:65
    waits: updates `job` at sql/pg/case.sql:3:1
2 statements lock rows; 2 edges, 2 of them in circles
"
    );
}

/// The example on a rule's page.
fn example(rule: &str) -> &'static str {
    let page = rules::ALL.iter().find(|page| page.name == rule).expect("a rule").doc;
    let (_, block) = page.split_once("```text\n").expect("an example");
    block.split_once("```").expect("its end").0.trim()
}

#[test]
fn the_examples_on_the_pages_are_accepted_and_what_they_mend_is_not() {
    let fence = example("stale-fence");
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_gate :opt", fence)]), set(NONE));
    let alone = fence.replace("OF job, permit", "OF job");
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_gate :opt", &alone)]), set(["stale-fence"]));

    let sweep = example("unbounded-wait");
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_due :many", sweep)]), set(NONE));
    let waits = sweep.replace(" SKIP LOCKED", "");
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_due :many", &waits)]), set(["unbounded-wait"]));

    let job = ("case_job :opt", "SELECT state FROM job WHERE id = :id FOR UPDATE");
    let step = ("case_step :opt", "SELECT state FROM step WHERE job_id = :id AND step = :step FOR UPDATE");
    let place = ("case_place :opt", "SELECT lane FROM queue WHERE id = :id FOR UPDATE");
    let all = [job, step, place];
    let listed = |statements: &str| format!("{}\n[transactions]\nwork = [{statements}]\n", example("lock-order"));
    let named = "\"case_job\", \"case_step\", \"case_place\"";
    assert_eq!(rules_of(&listed(named), &[SCHEMA], &all), set(NONE));
    let turned = "\"case_place\", \"case_job\", \"case_step\"";
    assert_eq!(rules_of(&listed(turned), &[SCHEMA], &all), set(["lock-order"]));
    let loose = "\"case_step\", \"case_job\", \"case_place\"";
    assert_eq!(rules_of(&listed(loose), &[SCHEMA], &all), set(["lock-order"]));
}

#[test]
fn what_is_locked_as_a_whole_is_held_in_part() {
    let lock = ("case_lock :many", "SELECT step.step FROM step WHERE step.job_id = :id ORDER BY step.step FOR UPDATE");
    let end = ("case_end :exec", "UPDATE step SET state = 'done' WHERE job_id = :id AND state = 'open'");
    let all = [lock, end];
    let listed = "[locks]\n[transactions]\nend = [\"case_lock\", \"case_end\"]\n";
    assert_eq!(rules_of(listed, &[SCHEMA], &all), set(NONE));
    // Who has some of them has not all.
    for some in [" AND step.state = 'new' ORDER", " ORDER"] {
        let lock = lock.1.replace(" ORDER", some).replace("FOR UPDATE", "FOR UPDATE SKIP LOCKED");
        let all = [("case_lock :many", lock.as_str()), end];
        assert_eq!(rules_of(listed, &[SCHEMA], &all), set(["lock-order"]), "{some}");
    }
}

#[test]
fn rows_belong_to_those_that_a_statement_only_reads() {
    let lock = ("case_lock :many", "SELECT job.id FROM job WHERE job.state = :state ORDER BY job.id FOR UPDATE");
    let end = (
        "case_end :exec",
        "UPDATE step SET state = 'done' FROM job AS of_job WHERE step.job_id = of_job.id AND of_job.state = :state",
    );
    let loose = ("case_end :exec", "UPDATE step SET state = 'done' FROM job AS of_job WHERE step.job_id = of_job.id");
    let listed = "[locks]\nunder = { step = \"job\" }\n[transactions]\nend = [\"case_lock\", \"case_end\"]\n";
    let order_of = |end| {
        let mut found = rules_of(listed, &[SCHEMA], &[lock, end]);
        // The lock itself waits for what it finds, which is another matter.
        found.remove("unbounded-wait");
        found
    };
    assert_eq!(order_of(end), set(NONE));
    assert_eq!(order_of(loose), set(["lock-order"]));
}

#[test]
fn each_of_several_rows_comes_after_the_row_that_it_belongs_to() {
    let text = "WITH due AS (
  SELECT job.id FROM job WHERE job.due_ms < :now_ms ORDER BY job.id LIMIT :page FOR UPDATE SKIP LOCKED
)
UPDATE step SET state = 'done' FROM due WHERE step.job_id = due.id";
    let under = "[locks]\nunder = { step = \"job\" }\n";
    assert_eq!(rules_of(under, &[SCHEMA], &[("case_end :exec", text)]), set(NONE));
}

#[test]
fn two_runs_of_a_statement_take_its_steps_in_one_order() {
    let text = "WITH noted AS (INSERT INTO queue (id, lane) VALUES (:id, :lane) ON CONFLICT (id) DO NOTHING)
INSERT INTO job (id, state, due_ms) VALUES (:id, 'new', 0) ON CONFLICT (id) DO NOTHING";
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_add :exec", text)]), set(NONE));
    // Another statement may take them the other way round.
    let other = (
        "case_other :exec",
        "WITH added AS (INSERT INTO job (id, state, due_ms) VALUES (:id, 'new', 0) ON CONFLICT (id) DO NOTHING)
INSERT INTO queue (id, lane) VALUES (:id, :lane) ON CONFLICT (id) DO NOTHING",
    );
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_add :exec", text), other]), set(["lock-order"]));
}

#[test]
fn what_only_gives_a_value_is_no_fence() {
    let counts = "UPDATE job SET due_ms = (SELECT count(*) FROM permit WHERE permit.job_id = :id) WHERE id = :id";
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_count :exec", counts)]), set(NONE));
    let joins = "SELECT job.id, permit.worker FROM job LEFT JOIN permit ON permit.job_id = job.id
 WHERE job.id = :id FOR UPDATE OF job";
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_join :many", joins)]), set(NONE));
    let decides = format!("{joins} ").replace("job.id = :id FOR", "job.id = :id AND permit.worker = :worker FOR");
    assert_eq!(rules_of("[locks]", &[SCHEMA], &[("case_join :many", &decides)]), set(["stale-fence"]));
}

#[test]
fn a_statement_of_a_list_is_no_sweep_by_itself() {
    let lock = ("sweep_lock :opt", "SELECT state FROM job WHERE id = :id FOR UPDATE SKIP LOCKED");
    let end = ("sweep_end :exec", "UPDATE job SET state = 'done' WHERE id = :id");
    let sweeps = "[locks]\nsweeps = [\"sweep_*\"]\n";
    assert_eq!(rules_of(sweeps, &[SCHEMA], &[lock, end]), set(["unbounded-wait"]));
    let listed = format!("{sweeps}[transactions]\nsweep_all = [\"sweep_lock\", \"sweep_end\"]\n");
    assert_eq!(rules_of(&listed, &[SCHEMA], &[lock, end]), set(NONE));
}

/// Pages that this project had before the rules, cut to what they lock: claims and promotion locked the place in the
/// queue before the execution, sweeps waited for the executions that they end, and a claim was fenced by a grant that it
/// did not lock.
#[test]
fn what_these_pages_once_did_is_found() {
    let mut sources = Sources::default();
    sources.add(SourceFile::new("schema/pg/0001_initial.sql", include_str!("once/schema.sql")));
    sources.add(SourceFile::new("sql/pg/once.sql", include_str!("once/pages.sql")));
    let config = Config::parse(include_str!("once/diglot.toml"), "diglot.toml").expect("settings");
    let inputs = Inputs { config, sources, ..Inputs::default() };
    let compiled = compile(&inputs);
    let locks = compiled
        .diagnostics
        .iter()
        .filter(|finding| ["lock-order", "stale-fence", "unbounded-wait"].contains(&finding.rule));
    let mut text = String::new();
    for finding in locks {
        text.push_str(&format!("{}: {}\n", finding.rule, finding.message));
        for label in &finding.labels {
            let (line, _) = inputs.sources.file(label.span.file).line_column(label.span.start as usize);
            text.push_str(&format!("  {line}: {}\n", label.text));
        }
    }
    insta::assert_snapshot!(text);
}
