//! Cases of rules about rows that a query with LIMIT picks for a write.

use super::Case;

pub(super) const CASES: &[Case] = &[
    Case {
        rule: "limited-subquery",
        fires: &[
            "DELETE FROM job WHERE id IN (SELECT j.id FROM job AS j WHERE j.at_ms < :before_ms ORDER BY j.id LIMIT :most)",
            "DELETE FROM job WHERE id IN (SELECT j.id FROM job AS j WHERE j.at_ms < :before_ms ORDER BY j.id LIMIT :most FOR UPDATE SKIP LOCKED)",
        ],
        silent: &[
            "WITH oldest AS (SELECT j.id FROM job AS j WHERE j.at_ms < :before_ms ORDER BY j.id LIMIT :most) DELETE FROM job WHERE id IN (SELECT oldest.id FROM oldest)",
            "WITH oldest AS (SELECT j.id FROM job AS j WHERE j.at_ms < :before_ms ORDER BY j.id LIMIT :most FOR UPDATE SKIP LOCKED) DELETE FROM job WHERE id IN (SELECT oldest.id FROM oldest)",
        ],
    },
    Case {
        rule: "limited-subquery",
        fires: &[
            "DELETE FROM job WHERE id IN (SELECT j.id FROM job AS j WHERE j.at_ms < :before_ms ORDER BY j.id LIMIT :most)",
            "DELETE FROM job WHERE id = ANY (SELECT j.id FROM job AS j WHERE j.at_ms < :before_ms ORDER BY j.id LIMIT :most FOR UPDATE SKIP LOCKED)",
        ],
        silent: &[
            "DELETE FROM job WHERE id IN (SELECT j.id FROM job AS j WHERE j.at_ms < :before_ms ORDER BY j.id LIMIT :most)",
            "DELETE FROM job WHERE id = ANY (ARRAY(SELECT j.id FROM job AS j WHERE j.at_ms < :before_ms ORDER BY j.id LIMIT :most FOR UPDATE SKIP LOCKED))",
        ],
    },
    Case {
        rule: "limited-subquery",
        fires: &[
            "UPDATE job SET n = 1 FROM (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 5) AS picked WHERE picked.id = job.id",
            "UPDATE job SET n = 1 FROM (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 5 FOR UPDATE SKIP LOCKED) AS picked WHERE picked.id = job.id",
        ],
        silent: &[
            "UPDATE job SET n = 1 WHERE id = (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 1)",
            "UPDATE job SET n = 1 WHERE id = (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 1 FOR UPDATE SKIP LOCKED)",
        ],
    },
    Case {
        rule: "limited-subquery",
        fires: &[
            "DELETE FROM job WHERE id IN (SELECT picked.id FROM (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 5) AS picked)",
            "DELETE FROM job WHERE id IN (SELECT picked.id FROM (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 5 FOR UPDATE) AS picked)",
        ],
        silent: &[
            "DELETE FROM job WHERE id IN (SELECT e.job_id FROM event AS e WHERE e.kind = 'a' ORDER BY e.event_id LIMIT 5)",
            "DELETE FROM job WHERE id IN (SELECT e.job_id FROM event AS e WHERE e.kind = 'a' ORDER BY e.event_id LIMIT 5 FOR UPDATE SKIP LOCKED)",
        ],
    },
    Case {
        rule: "unlocked-claim",
        fires: &["UPDATE job SET n = 1 WHERE id IN (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 1)"],
        silent: &[
            "UPDATE job SET n = 1 WHERE id IN (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 1)",
            "UPDATE job SET n = 1 WHERE id IN (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 1 FOR UPDATE SKIP LOCKED)",
        ],
    },
    Case {
        rule: "unlocked-claim",
        fires: &[
            "UPDATE job SET n = 1 WHERE n = 0 AND id IN (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 1)",
        ],
        silent: &[
            "UPDATE job SET n = 1 WHERE n = 0 AND id IN (SELECT j.id FROM job AS j WHERE j.n = 0 ORDER BY j.id LIMIT 9)",
        ],
    },
    Case {
        rule: "unlocked-claim",
        fires: &[
            "WITH picked AS (SELECT id FROM job WHERE n = 0 ORDER BY id LIMIT 1) INSERT INTO live (id, dedup, state, used) SELECT picked.id, 'a', 'b', 0 FROM picked WHERE true ON CONFLICT (id) DO UPDATE SET state = excluded.state",
        ],
        silent: &[
            "WITH picked AS (SELECT id FROM job WHERE n = 0 ORDER BY id LIMIT 1) INSERT INTO live (id, dedup, state, used) SELECT picked.id, 'a', 'b', 0 FROM picked WHERE true ON CONFLICT (id) DO UPDATE SET state = excluded.state WHERE live.state <> 'b'",
        ],
    },
    Case {
        rule: "weak-lock",
        fires: &[
            "INSERT INTO event (job_id, kind) SELECT j.id, 'seen' FROM job AS j WHERE j.id = :id AND j.n < 3",
            "INSERT INTO event (job_id, kind) SELECT j.id, 'seen' FROM job AS j WHERE j.id = :id AND j.n < 3 FOR KEY SHARE",
        ],
        silent: &[
            "INSERT INTO event (job_id, kind) SELECT j.id, 'seen' FROM job AS j WHERE j.id = :id",
            "INSERT INTO event (job_id, kind) SELECT j.id, 'seen' FROM job AS j WHERE j.id = :id FOR KEY SHARE",
        ],
    },
    Case {
        rule: "unlocked-fence",
        fires: &[
            "WITH fence AS (SELECT j.id FROM job AS j WHERE j.id = :id AND j.flag = 1) UPDATE job SET n = 4 WHERE id = :id AND EXISTS (SELECT 1 FROM fence)",
            "WITH fence AS (SELECT j.id FROM job AS j WHERE j.id = :id AND j.flag FOR KEY SHARE) UPDATE job SET n = 4 WHERE id = :id AND EXISTS (SELECT 1 FROM fence)",
        ],
        silent: &[
            "WITH fence AS (SELECT j.id FROM job AS j WHERE j.id = :id AND j.flag = 1) UPDATE job SET n = 4 WHERE id = :id AND EXISTS (SELECT 1 FROM fence)",
            "WITH fence AS (SELECT j.id FROM job AS j WHERE j.id = :id AND j.flag FOR UPDATE) UPDATE job SET n = 4 WHERE id = :id AND EXISTS (SELECT 1 FROM fence)",
        ],
    },
];
