-- What a run that is taken up again has called before, and since when a call goes on by itself.
ALTER TABLE calls ADD COLUMN run_id TEXT;
-- the id by which an agent has named the call within its run
ALTER TABLE calls ADD COLUMN tool_call_id TEXT;
-- Unix seconds; NULL: whoever asked has waited for it
ALTER TABLE calls ADD COLUMN accepted_at INTEGER;
CREATE INDEX calls_of_run ON calls (run_id, created_at, id) WHERE run_id IS NOT NULL;
DROP INDEX calls_of_action;
CREATE INDEX calls_of_action ON calls (desk, action, accepted_at)
    WHERE state = 'succeeded' AND accepted_at IS NOT NULL;
