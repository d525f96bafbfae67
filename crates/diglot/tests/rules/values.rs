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
        fires: &["SELECT n * 1000 AS ms FROM job"],
        silent: &["SELECT at_ms * 1000 AS us FROM job"],
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
