//! Cases of rules about numbers, their width and their bounds, and about documents that are compared.

use super::Case;

pub(super) const CASES: &[Case] = &[
    Case {
        rule: "huge-number",
        fires: &["SELECT id FROM job WHERE at_ms < 9223372036854775808"],
        silent: &["SELECT id FROM job WHERE at_ms < 9223372036854775807"],
    },
    Case {
        rule: "json-compared",
        fires: &["SELECT id FROM job WHERE raw = '{}'"],
        silent: &[
            "SELECT id FROM job WHERE json_extract(raw, '$.kind') = 'a'",
            "SELECT id FROM job WHERE raw ->> 'kind' = 'a'",
        ],
    },
    Case {
        rule: "json-compared",
        fires: &["SELECT DISTINCT raw FROM job"],
        silent: &["SELECT DISTINCT id, raw FROM job"],
    },
    Case {
        rule: "json-compared",
        fires: &["SELECT id FROM job ORDER BY raw, id"],
        silent: &["SELECT id FROM job ORDER BY id, raw"],
    },
    Case {
        rule: "json-compared",
        fires: &["SELECT lane, count(*) AS c FROM job GROUP BY lane, raw"],
        silent: &["SELECT id, raw, count(*) AS c FROM job GROUP BY id, raw"],
    },
    Case {
        rule: "json-compared",
        fires: &["SELECT count(DISTINCT raw) AS c FROM job"],
        silent: &["SELECT count(raw) AS c FROM job"],
    },
    Case {
        rule: "json-compared",
        fires: &["SELECT raw FROM job UNION SELECT doc FROM note"],
        silent: &["SELECT raw FROM job UNION ALL SELECT doc FROM note"],
    },
    Case {
        rule: "json-compared",
        fires: &["SELECT id FROM job WHERE raw IN ('{}', '[]')"],
        silent: &["SELECT id FROM job WHERE lane IN ('{}', '[]')"],
    },
    Case {
        rule: "limit-without-number",
        fires: &["-- param: most i64 null\nSELECT id FROM job ORDER BY id LIMIT :most"],
        silent: &["-- param: most i64\nSELECT id FROM job ORDER BY id LIMIT :most"],
    },
    Case {
        rule: "limit-without-number",
        fires: &["SELECT id FROM job ORDER BY id LIMIT :most - 10"],
        silent: &["SELECT id FROM job ORDER BY id LIMIT 10"],
    },
    Case {
        rule: "limit-without-number",
        fires: &["SELECT id FROM job ORDER BY id LIMIT 1.5"],
        silent: &["SELECT id FROM job ORDER BY id LIMIT 1"],
    },
    Case {
        rule: "narrow-arithmetic",
        fires: &["SELECT part * size AS c FROM slot"],
        silent: &["SELECT part * step AS c FROM slot"],
    },
    Case {
        rule: "narrow-arithmetic",
        fires: &["SELECT n + pos AS c FROM job WHERE n < 1000"],
        silent: &["SELECT n + pos AS c FROM job WHERE n BETWEEN 0 AND 1000 AND pos IN (1, 2)"],
    },
    Case {
        // A condition holds for what is made of the rows that it leaves, not for other conditions.
        rule: "narrow-arithmetic",
        fires: &["SELECT id FROM job WHERE n BETWEEN 0 AND 9 AND pos BETWEEN 0 AND 9 AND n + pos > 5"],
        silent: &["SELECT max(n + pos) AS c FROM job WHERE n BETWEEN 0 AND 9 AND pos BETWEEN 0 AND 9"],
    },
    Case {
        // RETURNING shows what was written.
        rule: "narrow-arithmetic",
        fires: &["UPDATE job SET n = :n WHERE n BETWEEN 0 AND 9 AND pos BETWEEN 0 AND 9 RETURNING n + pos AS c"],
        silent: &["UPDATE job SET at_ms = n + pos WHERE n BETWEEN 0 AND 9 AND pos BETWEEN 0 AND 9"],
    },
    Case {
        rule: "narrow-real",
        fires: &["SELECT CAST(x AS REAL) AS c FROM job"],
        silent: &["SELECT CAST(x AS REAL) AS c FROM job", "SELECT CAST(x AS double precision) AS c FROM job"],
    },
    Case {
        // 24 bits are enough for a part, and not for any integer.
        rule: "narrow-real",
        fires: &["SELECT CAST(n AS REAL) AS c FROM job"],
        silent: &["SELECT CAST(part AS REAL) AS c FROM slot"],
    },
    Case {
        rule: "narrow-real",
        fires: &["SELECT id FROM slot WHERE CAST(part AS REAL) > 0.1"],
        silent: &["SELECT id FROM slot WHERE CAST(part AS REAL) > 0.5"],
    },
    Case {
        // What is chosen among such values is one, and so is what is calculated from them.
        rule: "narrow-real",
        fires: &[
            "SELECT max(CAST(part AS REAL)) > 0.1 AS c FROM slot",
            "SELECT CASE WHEN part > 0 THEN CAST(part AS REAL) END > 0.1 AS c FROM slot",
            "SELECT sum(CAST(part AS REAL)) AS c FROM slot",
            "SELECT CAST(part AS REAL) / CAST(3 AS REAL) AS c FROM slot",
        ],
        silent: &[
            "SELECT max(CAST(part AS REAL)) > 0.5 AS c FROM slot",
            "SELECT avg(CAST(part AS REAL)) > 0.1 AS c FROM slot",
            "SELECT max(CAST(part AS double precision)) > 0.1 AS c FROM slot",
            "SELECT CAST(part AS REAL) / CAST(3 AS double precision) AS c FROM slot",
        ],
    },
    Case {
        // A setting that the server was built with is a number above zero; one that somebody sets may be zero.
        rule: "divided-by-zero",
        fires: &[
            "SELECT at_ms / 4096 AS c FROM job",
            "SELECT at_ms / CAST(current_setting('app.size') AS bigint) AS c FROM job",
        ],
        silent: &[
            "SELECT at_ms / 4096 AS c FROM job",
            "SELECT at_ms / CAST(current_setting('block_size') AS bigint) AS c FROM job",
        ],
    },
    Case {
        rule: "divided-by-zero",
        fires: &["SELECT id / part AS c FROM slot"],
        silent: &["SELECT id / size AS c FROM slot"],
    },
    Case {
        rule: "divided-by-zero",
        fires: &["SELECT at_ms / n AS c FROM job WHERE n >= 0"],
        silent: &["SELECT at_ms / n AS c FROM job WHERE n <> 0"],
    },
    Case {
        // Postgres asks conditions of a table in FROM together with those around it.
        rule: "divided-by-zero",
        fires: &["SELECT q.c FROM (SELECT at_ms / n AS c FROM job WHERE n > 0) AS q WHERE q.c > 2"],
        silent: &["SELECT id, (SELECT max(at_ms / n) FROM job WHERE n > 0) AS c FROM live"],
    },
    Case {
        // What stands between parameters is calculated before a row is looked at.
        rule: "divided-by-zero",
        fires: &["-- param: parts i64\nSELECT 10 / :parts AS c FROM job WHERE :parts <> 0"],
        silent: &["-- param: parts i64\nSELECT CASE WHEN :parts <> 0 THEN 10 / :parts END AS c FROM job"],
    },
    Case {
        rule: "shift-count",
        fires: &["SELECT at_ms << n AS c FROM job WHERE n < 10"],
        silent: &["SELECT at_ms << n AS c FROM job WHERE n < 10 AND n >= 0"],
    },
    Case {
        rule: "time-out-of-range",
        fires: &[
            "SELECT date(at_ms / 1000, 'unixepoch') AS d FROM job",
            "SELECT to_char(to_timestamp(at_ms / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS d FROM job",
        ],
        silent: &[
            "SELECT date(n, 'unixepoch') AS d FROM job",
            "SELECT to_char(to_timestamp(n) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS d FROM job",
        ],
    },
    Case {
        rule: "real-in-document",
        fires: &[
            "SELECT json_object('x', x) AS d FROM job WHERE id = 1",
            "SELECT jsonb_build_object('x', x) AS d FROM job WHERE id = 1",
        ],
        silent: &[
            "SELECT json_object('x', n) AS d FROM job WHERE id = 1",
            "SELECT jsonb_build_object('x', n) AS d FROM job WHERE id = 1",
        ],
    },
    Case {
        rule: "real-in-document",
        fires: &[
            "-- param: x f64\nUPDATE job SET raw = json_set(raw, '$.x', :x)",
            "-- param: x f64\nUPDATE job SET raw = jsonb_set(raw, '{x}', to_jsonb(CAST(:x AS float8)))",
        ],
        silent: &[
            "UPDATE job SET raw = json_set(raw, '$.x', 0.5)",
            "UPDATE job SET raw = jsonb_set(raw, '{x}', to_jsonb(0.5))",
        ],
    },
    Case {
        rule: "narrow-arithmetic",
        fires: &["SELECT n * 1000 AS ms FROM job"],
        silent: &["SELECT at_ms * 1000 AS us FROM job"],
    },
    Case {
        rule: "narrow-arithmetic",
        fires: &["SELECT id FROM job WHERE n > :seconds * 1000", "SELECT :by * 1000 AS ms"],
        silent: &[
            "-- param: seconds i64\nSELECT id FROM job WHERE n > :seconds * 1000",
            "SELECT CAST(:by AS bigint) * 1000 AS ms",
        ],
    },
    Case {
        rule: "narrow-arithmetic",
        fires: &["SELECT n + pos AS c FROM job"],
        silent: &["SELECT n + 1 AS c FROM job"],
    },
    Case {
        rule: "narrow-arithmetic",
        fires: &["SELECT -n - 2000000000 AS c FROM job"],
        silent: &["SELECT (n & 255) * 65536 - (pos & 255) AS c FROM job"],
    },
    Case {
        rule: "narrow-arithmetic",
        fires: &["SELECT n << 4 AS c FROM job"],
        silent: &["SELECT (n & 15) << 4 AS c FROM job"],
    },
    Case {
        rule: "narrow-arithmetic",
        fires: &["UPDATE job SET n = 3000000000 WHERE id = :id"],
        silent: &["UPDATE job SET at_ms = 3000000000 WHERE id = :id"],
    },
    Case {
        rule: "divided-by-zero",
        fires: &["SELECT id, n / pos AS share FROM job"],
        silent: &["SELECT id, n / NULLIF(pos, 0) AS share FROM job"],
    },
    Case {
        rule: "divided-by-zero",
        fires: &["SELECT id, CASE WHEN pos >= 0 THEN n / pos END AS share FROM job"],
        silent: &["SELECT id, CASE WHEN pos > 0 THEN n / pos END AS share FROM job"],
    },
    Case {
        rule: "divided-by-zero",
        fires: &["SELECT lane, CASE WHEN min(pos) <> 0 THEN sum(n / pos) END AS share FROM job GROUP BY lane"],
        silent: &["SELECT id, CASE WHEN pos <> 0 AND n > 1 THEN n % pos END AS share FROM job"],
    },
    Case {
        rule: "shift-count",
        fires: &["SELECT at_ms << (pos & 127) AS c FROM job"],
        silent: &["SELECT at_ms << (pos & 31) AS c FROM job"],
    },
    Case {
        rule: "shift-count",
        fires: &["SELECT 1 << n AS wait FROM job"],
        silent: &["SELECT n << 4 AS wide FROM job"],
    },
    Case {
        rule: "text-as-number",
        fires: &["SELECT CAST('' AS BIGINT) AS none"],
        silent: &["SELECT CAST('7' AS BIGINT) AS seven"],
    },
    Case {
        rule: "shift-count",
        fires: &["SELECT at_ms << 64 AS moved FROM job"],
        silent: &["SELECT at_ms << 40 AS moved FROM job"],
    },
    Case {
        rule: "shift-count",
        fires: &["SELECT id >> -1 AS moved FROM job"],
        silent: &["SELECT at_ms >> 63 AS moved FROM job"],
    },
    Case {
        rule: "text-as-number",
        fires: &["SELECT CAST('7 days' AS BIGINT) AS span FROM job"],
        silent: &["SELECT CAST(' 7 ' AS BIGINT) AS span FROM job"],
    },
    Case {
        rule: "huge-number",
        fires: &["SELECT at_ms + 9223372036854775807 AS far FROM job"],
        silent: &["SELECT 9223372036854775807 - at_ms AS far FROM job"],
    },
];
