-- Runs that callers start and drive, and who asked for a run. Times are Unix seconds.

-- the newest message that a run has answered: what was said later still waits
ALTER TABLE threads ADD COLUMN answered_seq INTEGER NOT NULL DEFAULT 0;
UPDATE threads SET answered_seq = coalesce(
    (SELECT max(upto_seq) FROM jobs WHERE thread_id = threads.id AND state = 'completed'), 0
);

-- id of the principal who said a visitor's message; NULL: nobody known, or the desk
ALTER TABLE messages ADD COLUMN principal TEXT;

-- who asked for the run, as JSON without address or credential: tools are called as this caller;
-- NULL: nobody known
ALTER TABLE jobs ADD COLUMN asked_by TEXT;
-- id of the site's agent that was asked for, and JSON of what its caller asks; NULL: it started by
-- itself
ALTER TABLE jobs ADD COLUMN agent TEXT;
ALTER TABLE jobs ADD COLUMN options TEXT;
ALTER TABLE jobs ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
ALTER TABLE jobs ADD COLUMN started_at INTEGER;
-- tokens that models read and wrote
ALTER TABLE jobs ADD COLUMN usage TEXT;
-- JSON list of the calls whose results the caller owes, while it requires_action; until lease_until
ALTER TABLE jobs ADD COLUMN owed TEXT;
-- attempts made when its caller last handed in results; 0: it never waited for any. What is queued
-- with such is at work already, and goes on before whatever follows.
ALTER TABLE jobs ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;

DROP INDEX jobs_held;
CREATE INDEX jobs_held ON jobs (lease_until) WHERE lease_until IS NOT NULL;
-- A thread has at most one run at work and one that follows it.
DROP INDEX jobs_one_in_progress;
DROP INDEX jobs_one_waiting;
CREATE UNIQUE INDEX jobs_one_waiting ON jobs (thread_id)
    WHERE kind = 'run' AND state = 'queued' AND attempts_before = 0;
CREATE UNIQUE INDEX jobs_one_at_work ON jobs (thread_id)
    WHERE kind = 'run' AND (
        state IN ('in_progress', 'requires_action', 'cancelling')
        OR (state = 'queued' AND attempts_before > 0)
    );

-- The steps in which a run called tools. Those that made messages are the messages themselves.
CREATE TABLE steps (
    run_id       TEXT    NOT NULL REFERENCES jobs (id),
    position     INTEGER NOT NULL,  -- from 1, without gaps
    id           TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    completed_at INTEGER,           -- NULL while the caller owes a result
    text         TEXT    NOT NULL,  -- what was said before calling
    calls        TEXT    NOT NULL,  -- JSON list, with results
    usage        TEXT,
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;
