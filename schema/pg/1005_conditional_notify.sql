-- A NOTIFY inside a transaction makes commits queue up behind one another. A
-- connection that sets ff_sql.wakeups to after_commit says that it sends the same
-- notifications itself, after its commit; for every other one the triggers notify.

CREATE OR REPLACE TRIGGER ff_completion_event_notify_trg
    AFTER INSERT ON ff_completion_event
    FOR EACH ROW
    WHEN (current_setting('ff_sql.wakeups', true) IS DISTINCT FROM 'after_commit')
    EXECUTE FUNCTION ff_notify_completion_event();

CREATE OR REPLACE TRIGGER ff_stream_frame_notify_trg
    AFTER INSERT ON ff_stream_frame
    FOR EACH ROW
    WHEN (current_setting('ff_sql.wakeups', true) IS DISTINCT FROM 'after_commit')
    EXECUTE FUNCTION ff_notify_stream_frame();

CREATE OR REPLACE TRIGGER ff_lease_event_notify_trg
    AFTER INSERT ON ff_lease_event
    FOR EACH ROW
    WHEN (current_setting('ff_sql.wakeups', true) IS DISTINCT FROM 'after_commit')
    EXECUTE FUNCTION ff_notify_lease_event();

CREATE OR REPLACE TRIGGER ff_signal_event_notify_trg
    AFTER INSERT ON ff_signal_event
    FOR EACH ROW
    WHEN (current_setting('ff_sql.wakeups', true) IS DISTINCT FROM 'after_commit')
    EXECUTE FUNCTION ff_notify_signal_event();

CREATE OR REPLACE TRIGGER ff_operator_event_notify_trg
    AFTER INSERT ON ff_operator_event
    FOR EACH ROW
    WHEN (current_setting('ff_sql.wakeups', true) IS DISTINCT FROM 'after_commit')
    EXECUTE FUNCTION ff_notify_operator_event();
