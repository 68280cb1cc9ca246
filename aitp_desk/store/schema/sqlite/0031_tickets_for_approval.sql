-- A call that was approved may take another ticket: an action hands it to people, or it is cut short.
DROP INDEX tickets_of_call;
CREATE UNIQUE INDEX tickets_of_call ON tickets (call_id, kind) WHERE call_id IS NOT NULL;
