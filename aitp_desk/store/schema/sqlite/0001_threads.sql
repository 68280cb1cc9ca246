-- Threads and what belongs to them. Times are Unix seconds. Ids are text that grows with time
-- (model/ids.py), so that each table and index is appended at its right edge. WITHOUT ROWID saves a
-- second tree where rows are small; messages, which are not, are cheaper to append with one.
--
-- REFERENCES are not enforced while serving: units of work keep them, and the contract suite checks
-- every database that it leaves behind with PRAGMA foreign_key_check.

CREATE TABLE threads (
    id          TEXT    NOT NULL PRIMARY KEY,
    owner       TEXT,               -- id of the principal; NULL: anonymous, the id alone opens it
    parent_id   TEXT    REFERENCES threads (id),
    speaker     TEXT    NOT NULL,   -- the actor stamped on the opener's messages that name none
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    last_seq    INTEGER NOT NULL,   -- number of the newest message, 0 for none
    last_link   BLOB    NOT NULL,   -- its link (model/chain.py), 32 zero bytes for none
    last_event  INTEGER NOT NULL,   -- number of the newest event, 0 for none
    metadata    TEXT    NOT NULL    -- JSON object, string to string
) STRICT, WITHOUT ROWID;

CREATE TABLE actors (
    thread_id    TEXT    NOT NULL REFERENCES threads (id),
    position     INTEGER NOT NULL,  -- from 0, the desk's own agent
    id           TEXT    NOT NULL,
    capabilities TEXT    NOT NULL,  -- JSON list of schemas
    origin       TEXT    NOT NULL,  -- which side brought it: visitor or desk
    principal    TEXT,              -- who brought it, for a visitor's; NULL: the anonymous opener
    PRIMARY KEY (thread_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
    id          TEXT    NOT NULL PRIMARY KEY,
    thread_id   TEXT    NOT NULL REFERENCES threads (id),
    seq         INTEGER NOT NULL,   -- from 1, without gaps
    event       INTEGER NOT NULL,   -- number of the event that it was created
    role        TEXT    NOT NULL,
    actor       TEXT    NOT NULL,
    origin      TEXT    NOT NULL,   -- which side said it: visitor or desk
    created_at  INTEGER NOT NULL,
    content     TEXT,               -- JSON list of texts; NULL once deleted
    attachments TEXT,               -- JSON list; NULL once deleted
    salt        BLOB,               -- NULL once deleted: the digest then reveals nothing
    digest      BLOB    NOT NULL,
    link        BLOB    NOT NULL,
    metadata    TEXT    NOT NULL,
    run_id      TEXT    REFERENCES jobs (id)
) STRICT;
CREATE UNIQUE INDEX messages_in_order ON messages (thread_id, seq);
CREATE INDEX messages_of_run ON messages (run_id) WHERE run_id IS NOT NULL;

-- What happened on a thread besides messages. A message's own row is its event: messages.event and
-- events.n together are 1, 2, 3 ... without gaps. A row of their own for messages would nearly double
-- the pages that an append writes. Up to event n there were (n - after_seq) rows of this table.
CREATE TABLE events (
    thread_id  TEXT    NOT NULL REFERENCES threads (id),
    n          INTEGER NOT NULL,
    after_seq  INTEGER NOT NULL,    -- the newest message when it happened
    kind       TEXT    NOT NULL,
    ref        TEXT    NOT NULL,    -- id of the run
    created_at INTEGER NOT NULL,
    PRIMARY KEY (thread_id, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    id           TEXT    NOT NULL PRIMARY KEY,
    kind         TEXT    NOT NULL,  -- run
    thread_id    TEXT    NOT NULL REFERENCES threads (id),
    state        TEXT    NOT NULL,  -- model/run.py: RunState
    created_at   INTEGER NOT NULL,
    available_at INTEGER NOT NULL,  -- not taken up before
    attempts     INTEGER NOT NULL,  -- how often it was taken up
    upto_seq     INTEGER,           -- the newest message when it was first taken up: it answers those
    leased_by    TEXT,              -- the worker that holds it; NULL: nobody, anyone may take it up
    lease_until  INTEGER,
    error        TEXT,
    finished_at  INTEGER
) STRICT;
CREATE INDEX jobs_of_thread ON jobs (thread_id, created_at, id);
CREATE INDEX jobs_waiting ON jobs (available_at, id) WHERE state = 'queued';
CREATE INDEX jobs_held ON jobs (lease_until) WHERE state = 'in_progress';
-- A thread has at most one run in progress and one that follows it.
CREATE UNIQUE INDEX jobs_one_waiting ON jobs (thread_id) WHERE kind = 'run' AND state = 'queued';
CREATE UNIQUE INDEX jobs_one_in_progress ON jobs (thread_id)
    WHERE kind = 'run' AND state = 'in_progress';

CREATE TABLE sessions (
    id         TEXT    NOT NULL PRIMARY KEY,
    thread_id  TEXT    NOT NULL REFERENCES threads (id),
    owner      TEXT,
    turns      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    pending    TEXT                 -- JSON of the question asked back, while it waits
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    scope       TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    thread_id   TEXT    NOT NULL REFERENCES threads (id),
    message_id  TEXT    REFERENCES messages (id),
    run_id      TEXT    REFERENCES jobs (id),
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TABLE tokens (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    hash       BLOB    NOT NULL,    -- keyed hash of the secret
    scopes     TEXT    NOT NULL,    -- JSON list
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE UNIQUE INDEX tokens_live_name ON tokens (name) WHERE revoked_at IS NULL;

-- A number that rises when something changes that a serving desk keeps in memory.
CREATE TABLE epochs (
    name  TEXT    NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
