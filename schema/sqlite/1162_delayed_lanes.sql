-- What is delayed on a lane, in the order in which its time comes: a lane that has much of it keeps no other waiting.
CREATE INDEX ff_exec_core_delayed_lane_idx
    ON ff_exec_core (lane_id, deadline_at_ms)
    WHERE lifecycle_phase IN ('submitted', 'runnable')
      AND eligibility_state = 'not_eligible_until_time'
      AND deadline_at_ms IS NOT NULL;
