-- Runs get a table under their own name: each belongs to its thread, is at work there alone, and is
-- ended by what is said there. A job belongs to nothing but what it is about.
DROP INDEX jobs_of_thread;
DROP INDEX jobs_waiting;
DROP INDEX jobs_held;
DROP INDEX jobs_one_waiting;
DROP INDEX jobs_one_at_work;
ALTER TABLE jobs RENAME TO runs;
ALTER TABLE runs DROP COLUMN kind;
CREATE INDEX runs_of_thread ON runs (thread_id, created_at, id);
CREATE INDEX runs_waiting ON runs (available_at, id) WHERE state = 'queued';
CREATE INDEX runs_held ON runs (lease_until) WHERE lease_until IS NOT NULL;
-- A thread has at most one run at work and one that follows it.
CREATE UNIQUE INDEX runs_one_waiting ON runs (thread_id)
    WHERE state = 'queued' AND attempts_before = 0;
CREATE UNIQUE INDEX runs_one_at_work ON runs (thread_id)
    WHERE state IN ('in_progress', 'requires_action', 'cancelling')
       OR (state = 'queued' AND attempts_before > 0);

-- What the desk has promised to do besides answering.
CREATE TABLE jobs (
    id           TEXT    NOT NULL PRIMARY KEY,
    kind         TEXT    NOT NULL,  -- name of who does it (desk/jobs.py: JobKind)
    ref          TEXT    NOT NULL,  -- id of what it is about
    desk         TEXT    NOT NULL,  -- name of the further site agent; empty for the site's own
    thread_id    TEXT    REFERENCES threads (id),  -- NULL: it belongs to none
    principal    TEXT,              -- id of who asked for it; NULL: nobody known
    payload      TEXT    NOT NULL,  -- JSON; '{}' once it is done
    state        TEXT    NOT NULL,  -- model/job.py: JobState
    created_at   INTEGER NOT NULL,
    available_at INTEGER NOT NULL,  -- not taken up before; while it is at work, the lease's end
    attempts     INTEGER NOT NULL,  -- how often it was taken up
    failures     INTEGER NOT NULL,  -- how often in vain, since it was queued or last retried by hand
    leased_by    TEXT,              -- the worker that holds it; NULL: nobody
    last_error   TEXT,
    finished_at  INTEGER            -- when it was done or given up
) STRICT;
-- What a job is about is done once, however often it is asked for.
CREATE UNIQUE INDEX jobs_once ON jobs (kind, ref);
CREATE INDEX jobs_due ON jobs (kind, available_at, id) WHERE state IN ('queued', 'at_work');
CREATE INDEX jobs_over ON jobs (state, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_of_thread ON jobs (thread_id) WHERE thread_id IS NOT NULL;
