//! Cases of rules about orders that nobody says, and about sums that one engine keeps in decimals.

use diglot::compile;
use diglot::config::Config;

use super::{Case, found_by, project};

pub(super) const CASES: &[Case] = &[
    Case {
        rule: "exact-quotient",
        fires: &["SELECT n FROM job GROUP BY n HAVING SUM(at_ms) / COUNT(*) > 3"],
        silent: &["SELECT n FROM job GROUP BY n HAVING CAST(SUM(at_ms) AS BIGINT) / COUNT(*) > 3"],
    },
    Case {
        rule: "exact-quotient",
        fires: &["SELECT id FROM job WHERE (SELECT SUM(l.used) FROM live AS l) / 2 = at_ms"],
        silent: &["SELECT id FROM job WHERE (SELECT SUM(l.used) FROM live AS l) / 2 >= 7"],
    },
    Case {
        rule: "exact-quotient",
        fires: &["SELECT n, CASE WHEN SUM(at_ms) / NULLIF(SUM(pos), 0) > 4 THEN 1 ELSE 0 END AS c FROM job GROUP BY n"],
        silent: &["SELECT n, CASE WHEN SUM(pos) / NULLIF(COUNT(*), 0) > 4 THEN 1 ELSE 0 END AS c FROM job GROUP BY n"],
    },
    Case {
        rule: "exact-quotient",
        fires: &["UPDATE live SET used = COALESCE((SELECT SUM(j.at_ms) FROM job AS j), 0) / 3 WHERE id = :id"],
        silent: &[
            "UPDATE live SET used = COALESCE((SELECT SUM(j.at_ms) FROM job AS j), 0) / 3 WHERE id = :id",
            "UPDATE live SET used = trunc(COALESCE((SELECT SUM(j.at_ms) FROM job AS j), 0) / 3) WHERE id = :id",
        ],
    },
    Case {
        rule: "exact-quotient",
        fires: &["SELECT s.n FROM (SELECT n, SUM(at_ms) AS whole FROM job GROUP BY n) AS s WHERE s.whole / 10 = 1"],
        silent: &[
            "SELECT s.n FROM (SELECT n, SUM(at_ms) AS whole FROM job GROUP BY n) AS s WHERE CAST(s.whole AS DOUBLE PRECISION) / 10 = 1",
        ],
    },
    Case {
        rule: "coarse-time",
        fires: &["SELECT id FROM stay ORDER BY seen DESC, id"],
        silent: &["SELECT id FROM stay WHERE id > :after ORDER BY id"],
    },
    Case {
        rule: "coarse-time",
        fires: &["SELECT a.id FROM stay AS a JOIN stay AS b ON a.made < b.made WHERE b.id = :id ORDER BY a.id"],
        silent: &["SELECT a.id FROM stay AS a JOIN stay AS b ON a.id < b.id WHERE b.id = :id ORDER BY a.id"],
    },
    Case {
        rule: "limit-ties",
        fires: &["SELECT id, n FROM job ORDER BY n LIMIT 3"],
        silent: &["SELECT id, n FROM job ORDER BY n, id LIMIT 3"],
    },
    Case {
        rule: "limit-ties",
        fires: &["DELETE FROM job WHERE id = (SELECT j.id FROM job AS j ORDER BY j.at_ms DESC LIMIT 1)"],
        silent: &["SELECT j.at_ms FROM job AS j ORDER BY j.at_ms DESC LIMIT 1"],
    },
    Case {
        rule: "limit-ties",
        fires: &["SELECT j.n, count(*) AS c FROM job AS j GROUP BY j.n ORDER BY c DESC LIMIT 2"],
        silent: &["SELECT j.n, count(*) AS c FROM job AS j GROUP BY j.n ORDER BY c DESC, j.n LIMIT 2"],
    },
    Case {
        rule: "limit-ties",
        fires: &["SELECT e.event_id, j.n FROM event AS e JOIN job AS j ON j.id = e.job_id ORDER BY j.n, j.id LIMIT 5"],
        silent: &[
            "SELECT e.event_id, j.n FROM event AS e JOIN job AS j ON j.id = e.job_id ORDER BY j.n, e.event_id LIMIT 5",
        ],
    },
    Case {
        rule: "limit-ties",
        fires: &["SELECT j.id, e.kind FROM job AS j LEFT JOIN event AS e ON e.job_id = j.id ORDER BY j.id LIMIT 5"],
        silent: &[
            "SELECT j.id, e.kind FROM job AS j LEFT JOIN event AS e ON e.job_id = j.id ORDER BY j.id, e.event_id NULLS FIRST LIMIT 5",
        ],
    },
    Case {
        rule: "limit-ties",
        fires: &["WITH due AS (SELECT id, n FROM job ORDER BY at_ms) SELECT due.id, due.n FROM due LIMIT 2"],
        silent: &["WITH due AS (SELECT id, n FROM job ORDER BY at_ms, id) SELECT due.id, due.n FROM due LIMIT 2"],
    },
    Case {
        rule: "unordered-texts",
        fires: &[
            "SELECT n, group_concat(lane, ',') AS lanes FROM job GROUP BY n ORDER BY n",
            "SELECT n, string_agg(lane, ',') AS lanes FROM job GROUP BY n ORDER BY n",
        ],
        silent: &[
            "SELECT n, group_concat(lane, ',' ORDER BY id) AS lanes FROM job GROUP BY n ORDER BY n",
            "SELECT n, string_agg(lane, ',' ORDER BY id) AS lanes FROM job GROUP BY n ORDER BY n",
        ],
    },
    Case {
        rule: "unordered-texts",
        fires: &[
            "SELECT id, (SELECT json_group_array(e.kind) FROM event AS e WHERE e.job_id = job.id) AS kinds FROM job ORDER BY id",
            "SELECT id, (SELECT COALESCE(jsonb_agg(e.kind), '[]'::jsonb) FROM event AS e WHERE e.job_id = job.id) AS kinds FROM job ORDER BY id",
        ],
        silent: &[
            "SELECT json_group_array(s.kind) AS kinds FROM (SELECT e.kind FROM event AS e ORDER BY e.event_id) AS s",
            "SELECT COALESCE(jsonb_agg(s.kind), '[]'::jsonb) AS kinds FROM (SELECT e.kind FROM event AS e ORDER BY e.event_id) AS s",
        ],
    },
    Case {
        rule: "text-order",
        fires: &["SELECT id FROM job ORDER BY lower(lane), id"],
        silent: &["SELECT id FROM job ORDER BY length(lane), id"],
    },
    Case {
        rule: "text-order",
        fires: &["SELECT id FROM job WHERE lane || 'x' < 'm' ORDER BY id"],
        silent: &["SELECT id FROM job WHERE lane || 'x' = 'm' ORDER BY id"],
    },
    Case {
        rule: "text-order",
        fires: &["SELECT s.id FROM (SELECT id, trim(lane) AS label FROM job) AS s ORDER BY s.label, s.id LIMIT 4"],
        silent: &[
            "SELECT s.name FROM (SELECT trim(name) AS label, name FROM paper) AS s ORDER BY s.label, s.name LIMIT 4",
        ],
    },
    Case {
        rule: "text-order",
        fires: &["SELECT max(CASE WHEN n > 1 THEN lane ELSE 'none' END) AS last FROM job"],
        silent: &["SELECT max(CASE WHEN n > 1 THEN n ELSE 0 END) AS last FROM job"],
    },
    Case {
        rule: "limited-subquery",
        fires: &[
            "DELETE FROM job WHERE EXISTS (SELECT 1 FROM (SELECT j.id FROM job AS j ORDER BY j.id LIMIT 2) AS o WHERE o.id = job.id)",
            "DELETE FROM job WHERE EXISTS (SELECT 1 FROM (SELECT j.id FROM job AS j ORDER BY j.id LIMIT 2 FOR UPDATE SKIP LOCKED) AS o WHERE o.id = job.id)",
        ],
        silent: &[
            "WITH o AS (SELECT j.id FROM job AS j ORDER BY j.id LIMIT 2) DELETE FROM job WHERE EXISTS (SELECT 1 FROM o WHERE o.id = job.id)",
            "WITH o AS (SELECT j.id FROM job AS j ORDER BY j.id LIMIT 2 FOR UPDATE SKIP LOCKED) DELETE FROM job WHERE EXISTS (SELECT 1 FROM o WHERE o.id = job.id)",
        ],
    },
];

#[test]
fn an_insert_that_names_its_values_in_another_order_than_the_numbers_is_told() {
    let of = |columns: &str, numbers: &str, settings: &str| {
        let named = "INSERT INTO event (event_id, job_id, kind) VALUES (:event_id, :job_id, :kind)";
        let numbered = format!("INSERT INTO event ({columns}) VALUES ({numbers})");
        let config = Config::parse(settings, "diglot.toml").expect("settings");
        found_by(config, &[named, &numbered], None).contains("param-order-differs")
    };
    assert!(of("event_id, job_id, kind", "$2, $1, $3", "generate = false"));
    assert!(of("job_id, event_id, kind", "$1, $2, $3", "generate = false"));
    assert!(!of("event_id, job_id, kind", "$1, $2, $3", "generate = false"));
    assert!(!of("job_id, event_id, kind", "$2, $1, $3", "generate = false"));
    assert!(!of("event_id, job_id, kind", "$2, $1, $3", ""), "a generated function binds by name");
}

/// Pairs that differ in a word that both pages have, with what the finding says of it.
const REASONS: &[(&[&str], &str)] = &[
    (&["SELECT substr(lane, -2) AS tail FROM job"], "counts a negative place from the end"),
    (&["SELECT round(x) AS whole FROM job"], "rounds halves away from zero"),
    (&["SELECT CAST(x AS BIGINT) AS whole FROM job"], "`CAST(f64 AS bigint)` drops the fraction"),
    (&["SELECT raw ->> 'n' AS n FROM job"], "gives every member as a text"),
];

#[test]
fn where_both_pages_have_one_text_the_reason_is_named() {
    for (texts, said) in REASONS {
        let found = compile(&project(Config::default(), texts, None)).diagnostics;
        let notes: Vec<&String> = found.iter().flat_map(|finding| &finding.notes).collect();
        assert!(notes.iter().any(|note| note.contains(said)), "{texts:?}: {found:?}");
        let vague = |help: &String| help.contains("in two ways") || help == "write the same on both pages";
        assert!(!found.iter().flat_map(|finding| &finding.help).any(vague), "{texts:?}");
    }
}
