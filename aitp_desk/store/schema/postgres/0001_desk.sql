-- The whole schema as of ../sqlite/0053: the same tables, columns and indexes under the same names.
-- What they hold is described there, once. Where the engines differ:
--
-- * INTEGER is BIGINT: SQLite's integers have 64 bits too.
-- * TEXT is compared byte by byte (COLLATE "C"), whatever the database's own order is: ids grow with
--   time, and lists are read in that order.
-- * References between tables are not declared. SQLite does not enforce them while it serves: units
--   of work keep them, and the contract suite checks what it leaves behind.

-- SQLite's function of this name, so that statements that look for text are written once.
CREATE FUNCTION instr(text, text) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN strpos($1, $2);

CREATE TABLE threads (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner        TEXT COLLATE "C",
    parent_id    TEXT COLLATE "C",
    speaker      TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    last_seq     BIGINT NOT NULL,
    last_link    BYTEA NOT NULL,
    last_event   BIGINT NOT NULL,
    metadata     TEXT COLLATE "C" NOT NULL,
    parent_seq   BIGINT,
    deleted_at   BIGINT,
    answered_seq BIGINT NOT NULL DEFAULT 0,
    desk         TEXT COLLATE "C" NOT NULL DEFAULT '',
    claimed_at   BIGINT
);
CREATE INDEX threads_forked ON threads (parent_id, parent_seq) WHERE parent_seq IS NOT NULL;
CREATE INDEX threads_of_owner ON threads (owner, desk, id)
    WHERE owner IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE actors (
    thread_id    TEXT COLLATE "C" NOT NULL,
    position     BIGINT NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    capabilities TEXT COLLATE "C" NOT NULL,
    origin       TEXT COLLATE "C" NOT NULL,
    principal    TEXT COLLATE "C",
    joined_event BIGINT NOT NULL DEFAULT 0,
    left_event   BIGINT,
    left_seq     BIGINT,
    PRIMARY KEY (thread_id, position)
);
CREATE INDEX actors_of_principal ON actors (thread_id, principal) WHERE principal IS NOT NULL;

CREATE TABLE messages (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    thread_id   TEXT COLLATE "C" NOT NULL,
    seq         BIGINT NOT NULL,
    event       BIGINT NOT NULL,
    role        TEXT COLLATE "C" NOT NULL,
    actor       TEXT COLLATE "C" NOT NULL,
    origin      TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL,
    content     TEXT COLLATE "C",
    attachments TEXT COLLATE "C",
    salt        BYTEA,
    digest      BYTEA NOT NULL,
    link        BYTEA NOT NULL,
    metadata    TEXT COLLATE "C" NOT NULL,
    run_id      TEXT COLLATE "C",
    principal   TEXT COLLATE "C"
);
CREATE UNIQUE INDEX messages_in_order ON messages (thread_id, seq);
CREATE INDEX messages_of_run ON messages (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX messages_refused ON messages (id)
    WHERE origin = 'desk' AND instr(metadata, '"found":"false"') > 0;

CREATE TABLE events (
    thread_id  TEXT COLLATE "C" NOT NULL,
    n          BIGINT NOT NULL,
    after_seq  BIGINT NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    ref        TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (thread_id, n)
);

CREATE TABLE runs (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    thread_id       TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    available_at    BIGINT NOT NULL,
    attempts        BIGINT NOT NULL,
    upto_seq        BIGINT,
    leased_by       TEXT COLLATE "C",
    lease_until     BIGINT,
    error           TEXT COLLATE "C",
    finished_at     BIGINT,
    asked_by        TEXT COLLATE "C",
    agent           TEXT COLLATE "C",
    options         TEXT COLLATE "C",
    metadata        TEXT COLLATE "C" NOT NULL DEFAULT '{}',
    started_at      BIGINT,
    usage           TEXT COLLATE "C",
    owed            TEXT COLLATE "C",
    attempts_before BIGINT NOT NULL DEFAULT 0,
    started_by      TEXT COLLATE "C"
);
CREATE INDEX runs_of_thread ON runs (thread_id, created_at, id);
CREATE INDEX runs_waiting ON runs (available_at, id) WHERE state = 'queued';
CREATE INDEX runs_held ON runs (lease_until) WHERE lease_until IS NOT NULL;
CREATE UNIQUE INDEX runs_one_waiting ON runs (thread_id)
    WHERE state = 'queued' AND attempts_before = 0;
CREATE UNIQUE INDEX runs_one_at_work ON runs (thread_id)
    WHERE state IN ('in_progress', 'requires_action', 'cancelling')
       OR (state = 'queued' AND attempts_before > 0);

CREATE TABLE sessions (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    thread_id  TEXT COLLATE "C" NOT NULL,
    owner      TEXT COLLATE "C",
    turns      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    last_at    BIGINT NOT NULL,
    pending    TEXT COLLATE "C",
    tokens     BIGINT NOT NULL DEFAULT 0,
    heard      BIGINT NOT NULL DEFAULT 0,
    kept_until BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sessions_of_thread ON sessions (thread_id);

CREATE TABLE idempotency (
    scope       TEXT COLLATE "C" NOT NULL,
    key         TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    thread_id   TEXT COLLATE "C" NOT NULL,
    message_id  TEXT COLLATE "C",
    run_id      TEXT COLLATE "C",
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TABLE tokens (
    id                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name              TEXT COLLATE "C" NOT NULL,
    hash              BYTEA NOT NULL,
    scopes            TEXT COLLATE "C" NOT NULL,
    created_at        BIGINT NOT NULL,
    revoked_at        BIGINT,
    kind              TEXT COLLATE "C" NOT NULL DEFAULT 'api_key' CHECK (kind IN ('api_key', 'hmac')),
    version           BIGINT NOT NULL DEFAULT 1,
    data_key          BIGINT NOT NULL DEFAULT 1,
    expires_at        BIGINT,
    used_at           BIGINT,
    previous_hash     BYTEA,
    previous_data_key BIGINT,
    previous_until    BIGINT
);
CREATE UNIQUE INDEX tokens_live_name ON tokens (name) WHERE revoked_at IS NULL;

CREATE TABLE epochs (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
);

CREATE TABLE steps (
    run_id       TEXT COLLATE "C" NOT NULL,
    position     BIGINT NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    completed_at BIGINT,
    text         TEXT COLLATE "C" NOT NULL,
    calls        TEXT COLLATE "C" NOT NULL,
    usage        TEXT COLLATE "C",
    PRIMARY KEY (run_id, position)
);

CREATE TABLE files (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    owner      TEXT COLLATE "C",
    counted    TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    name       TEXT COLLATE "C" NOT NULL,
    purpose    TEXT COLLATE "C" NOT NULL,
    media_type TEXT COLLATE "C" NOT NULL,
    size       BIGINT NOT NULL,
    desk       TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX files_of_owner ON files (owner, id);
CREATE INDEX files_counted ON files (counted, size);
CREATE INDEX files_expiring ON files (expires_at, id) WHERE expires_at IS NOT NULL;

CREATE TABLE file_parts (
    file_id TEXT COLLATE "C" NOT NULL,
    n       BIGINT NOT NULL,
    bytes   BYTEA NOT NULL,
    PRIMARY KEY (file_id, n)
);

CREATE TABLE summaries (
    thread_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    upto_seq  BIGINT NOT NULL,
    text      TEXT COLLATE "C" NOT NULL,
    made_by   TEXT COLLATE "C" NOT NULL
);

CREATE TABLE folded_turns (
    thread_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C",
    last_at    BIGINT NOT NULL,
    turn       BYTEA NOT NULL
);
CREATE INDEX folded_turns_of_session ON folded_turns (session_id) WHERE session_id IS NOT NULL;

CREATE TABLE audit (
    n         BIGINT NOT NULL PRIMARY KEY,
    at        BIGINT NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    proven_by TEXT COLLATE "C" NOT NULL,
    action    TEXT COLLATE "C" NOT NULL,
    object    TEXT COLLATE "C" NOT NULL,
    outcome   TEXT COLLATE "C" NOT NULL,
    count     BIGINT NOT NULL,
    link      BYTEA NOT NULL
);

CREATE TABLE audit_anchor (
    n    BIGINT NOT NULL PRIMARY KEY,
    link BYTEA NOT NULL
);

CREATE TABLE nonces (
    until  BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    PRIMARY KEY (until, digest)
);

CREATE TABLE revoked_jwts (
    issuer     TEXT COLLATE "C" NOT NULL,
    claim      TEXT COLLATE "C" NOT NULL,
    value      TEXT COLLATE "C" NOT NULL,
    revoked_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, claim, value)
);

CREATE TABLE clients (
    id                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name              TEXT COLLATE "C" NOT NULL,
    hash              BYTEA NOT NULL,
    scopes            TEXT COLLATE "C" NOT NULL,
    is_registered     BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    expires_at        BIGINT,
    revoked_at        BIGINT,
    data_key          BIGINT NOT NULL DEFAULT 1,
    version           BIGINT NOT NULL DEFAULT 1,
    previous_hash     BYTEA,
    previous_data_key BIGINT,
    previous_until    BIGINT
);
CREATE UNIQUE INDEX clients_live_name ON clients (name)
    WHERE is_registered = 0 AND revoked_at IS NULL;
CREATE INDEX clients_registered ON clients (expires_at) WHERE is_registered = 1;

CREATE TABLE signing_keys (
    version       BIGINT NOT NULL PRIMARY KEY,
    made_at       BIGINT NOT NULL,
    signs_from    BIGINT NOT NULL,
    data_key      BIGINT NOT NULL DEFAULT 1,
    voids_earlier BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE tokens_used (
    day     BIGINT NOT NULL,
    used_by BYTEA NOT NULL,
    tokens  BIGINT NOT NULL,
    PRIMARY KEY (day, used_by)
);

CREATE TABLE grants (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    thread_id  TEXT COLLATE "C" NOT NULL,
    principal  TEXT COLLATE "C" NOT NULL,
    may        TEXT COLLATE "C" NOT NULL,
    hash       BYTEA,
    created_at BIGINT NOT NULL,
    expires_at BIGINT
);
CREATE UNIQUE INDEX grants_of_thread ON grants (thread_id, principal);
CREATE UNIQUE INDEX grants_by_hash ON grants (hash) WHERE hash IS NOT NULL;
CREATE INDEX grants_of_principal ON grants (principal);

CREATE TABLE data_keys (
    version BIGINT NOT NULL,
    master  TEXT COLLATE "C" NOT NULL,
    wrapped BYTEA NOT NULL,
    made_at BIGINT NOT NULL,
    PRIMARY KEY (version, master)
);

CREATE TABLE run_givers (
    run_id    TEXT COLLATE "C" NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, principal)
);

CREATE TABLE jobs (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind         TEXT COLLATE "C" NOT NULL,
    ref          TEXT COLLATE "C" NOT NULL,
    desk         TEXT COLLATE "C" NOT NULL,
    thread_id    TEXT COLLATE "C",
    principal    TEXT COLLATE "C",
    payload      TEXT COLLATE "C" NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    available_at BIGINT NOT NULL,
    attempts     BIGINT NOT NULL,
    failures     BIGINT NOT NULL,
    leased_by    TEXT COLLATE "C",
    last_error   TEXT COLLATE "C",
    finished_at  BIGINT
);
CREATE UNIQUE INDEX jobs_once ON jobs (kind, ref);
CREATE INDEX jobs_due ON jobs (kind, available_at, id) WHERE state IN ('queued', 'at_work');
CREATE INDEX jobs_over ON jobs (state, finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_of_thread ON jobs (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX jobs_of_asker ON jobs (kind, coalesce(principal, ''), available_at, id)
    WHERE state IN ('queued', 'at_work');

CREATE TABLE calls (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    desk         TEXT COLLATE "C" NOT NULL,
    action       TEXT COLLATE "C" NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    thread_id    TEXT COLLATE "C",
    session_id   TEXT COLLATE "C",
    principal    TEXT COLLATE "C",
    asked_by     TEXT COLLATE "C",
    source       TEXT COLLATE "C" NOT NULL,
    arguments    TEXT COLLATE "C" NOT NULL,
    memory       TEXT COLLATE "C",
    intent       TEXT COLLATE "C",
    price        TEXT COLLATE "C",
    callback_url TEXT COLLATE "C",
    progress     TEXT COLLATE "C" NOT NULL,
    result       TEXT COLLATE "C" NOT NULL,
    text         TEXT COLLATE "C" NOT NULL,
    effects      TEXT COLLATE "C" NOT NULL,
    error        TEXT COLLATE "C",
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    ended_at     BIGINT,
    run_id       TEXT COLLATE "C",
    tool_call_id TEXT COLLATE "C",
    accepted_at  BIGINT,
    answer       TEXT COLLATE "C",
    payment      TEXT COLLATE "C",
    quote_id     TEXT COLLATE "C"
);
CREATE INDEX calls_of_session ON calls (session_id, created_at) WHERE session_id IS NOT NULL;
CREATE INDEX calls_of_thread ON calls (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX calls_of_principal ON calls (principal) WHERE principal IS NOT NULL;
CREATE INDEX calls_at_work ON calls (created_at, id) WHERE state = 'started';
CREATE INDEX calls_of_run ON calls (run_id, created_at, id) WHERE run_id IS NOT NULL;
CREATE INDEX calls_of_action ON calls (desk, action, accepted_at)
    WHERE state = 'succeeded' AND accepted_at IS NOT NULL;
CREATE INDEX calls_that_wait ON calls (expires_at) WHERE state = 'waiting_input';
CREATE INDEX calls_on_no_thread ON calls (coalesce(ended_at, expires_at)) WHERE thread_id IS NULL;
CREATE INDEX calls_answered ON calls (thread_id) WHERE answer IS NOT NULL;
CREATE INDEX calls_quoted ON calls (quote_id) WHERE quote_id IS NOT NULL;
CREATE INDEX calls_unpaid ON calls (expires_at) WHERE state = 'waiting_payment';

CREATE TABLE tickets (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    desk       TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    about      TEXT COLLATE "C" NOT NULL,
    note       TEXT COLLATE "C" NOT NULL,
    thread_id  TEXT COLLATE "C",
    call_id    TEXT COLLATE "C",
    principal  TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    due_at     BIGINT,
    answer     TEXT COLLATE "C" NOT NULL,
    ended_by   TEXT COLLATE "C",
    ended_at   BIGINT,
    taken_by   TEXT COLLATE "C",
    asked_from TEXT COLLATE "C",
    contact    TEXT COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX tickets_of_thread ON tickets (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX tickets_of_principal ON tickets (principal) WHERE principal IS NOT NULL;
CREATE INDEX tickets_due ON tickets (due_at)
    WHERE state IN ('open', 'taken') AND due_at IS NOT NULL;
CREATE INDEX tickets_waiting ON tickets (id) WHERE state IN ('open', 'taken');
CREATE INDEX tickets_asked_from ON tickets (asked_from)
    WHERE state IN ('open', 'taken') AND asked_from IS NOT NULL;
CREATE UNIQUE INDEX tickets_asked_for ON tickets (thread_id)
    WHERE kind IN ('request', 'question') AND state IN ('open', 'taken');
CREATE UNIQUE INDEX tickets_of_call ON tickets (call_id, kind) WHERE call_id IS NOT NULL;
CREATE INDEX tickets_made ON tickets (created_at);
CREATE INDEX tickets_ended ON tickets (ended_at, created_at) WHERE ended_at IS NOT NULL;

CREATE TABLE thread_operators (
    thread_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    operator   TEXT COLLATE "C" NOT NULL,
    since      BIGINT NOT NULL,
    for_itself BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE schedules (
    name        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    every       BIGINT NOT NULL,
    due_at      BIGINT NOT NULL,
    runs        BIGINT NOT NULL,
    failures    BIGINT NOT NULL,
    leased_by   TEXT COLLATE "C",
    lease_until BIGINT NOT NULL,
    began_at    BIGINT,
    ended_at    BIGINT,
    done_at     BIGINT,
    did         BIGINT NOT NULL,
    last_error  TEXT COLLATE "C"
);

CREATE TABLE console_sessions (
    hash       BYTEA NOT NULL PRIMARY KEY,
    key_id     TEXT COLLATE "C" NOT NULL,
    key_hash   BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX console_sessions_by_key ON console_sessions (key_id, created_at);
CREATE INDEX console_sessions_by_end ON console_sessions (expires_at);

CREATE TABLE notes (
    thread_id  TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    operator   TEXT COLLATE "C" NOT NULL,
    words      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (thread_id, id)
);

CREATE TABLE ticket_tallies (
    kind    TEXT COLLATE "C" NOT NULL,
    how     TEXT COLLATE "C" NOT NULL,
    within  BIGINT NOT NULL,
    tickets BIGINT NOT NULL,
    seconds BIGINT NOT NULL,
    PRIMARY KEY (kind, how, within)
);

CREATE TABLE capability_records (
    capability TEXT COLLATE "C" NOT NULL,
    key        TEXT COLLATE "C" NOT NULL,
    version    BIGINT NOT NULL,
    value      TEXT COLLATE "C" NOT NULL,
    thread_id  TEXT COLLATE "C",
    updated_at BIGINT NOT NULL,
    open_until BIGINT,
    open_on    TEXT COLLATE "C",
    PRIMARY KEY (capability, key)
);
CREATE INDEX capability_records_of_thread ON capability_records (thread_id)
    WHERE thread_id IS NOT NULL;
CREATE INDEX capability_records_open_on ON capability_records (open_on, open_until)
    WHERE open_until IS NOT NULL;

CREATE TABLE capability_counters (
    capability TEXT COLLATE "C" NOT NULL,
    key        TEXT COLLATE "C" NOT NULL,
    value      BIGINT NOT NULL,
    PRIMARY KEY (capability, key)
);

CREATE TABLE tasks (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    desk       TEXT COLLATE "C" NOT NULL,
    thread_id  TEXT COLLATE "C" NOT NULL,
    context    TEXT COLLATE "C" NOT NULL,
    owner      TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL
);
CREATE INDEX tasks_of_thread ON tasks (thread_id, changed_at, id);
CREATE INDEX tasks_of_owner ON tasks (owner, desk, changed_at, id) WHERE owner IS NOT NULL;
CREATE INDEX tasks_by_context ON tasks (context);

CREATE TABLE task_turns (
    task_id    TEXT COLLATE "C" NOT NULL,
    n          BIGINT NOT NULL,
    message_id TEXT COLLATE "C",
    run_id     TEXT COLLATE "C",
    call_id    TEXT COLLATE "C",
    asked      TEXT COLLATE "C",
    said       TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    principal  TEXT COLLATE "C",
    PRIMARY KEY (task_id, n)
);
CREATE INDEX task_turns_of_run ON task_turns (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX task_turns_of_call ON task_turns (call_id) WHERE call_id IS NOT NULL;

CREATE TABLE task_pushes (
    task_id    TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    url        TEXT COLLATE "C" NOT NULL,
    sealed     BYTEA NOT NULL,
    version    TEXT COLLATE "C" NOT NULL,
    principal  TEXT COLLATE "C",
    created_at BIGINT NOT NULL,
    asked_by   TEXT COLLATE "C",
    PRIMARY KEY (task_id, id)
);
CREATE INDEX task_pushes_of_principal ON task_pushes (principal) WHERE principal IS NOT NULL;

CREATE TABLE sealed_values (
    ref        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    desk       TEXT COLLATE "C" NOT NULL,
    sealed     BYTEA NOT NULL,
    thread_id  TEXT COLLATE "C",
    message_id TEXT COLLATE "C",
    call_id    TEXT COLLATE "C",
    principal  TEXT COLLATE "C",
    made_at    BIGINT NOT NULL
);
CREATE INDEX sealed_of_thread ON sealed_values (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX sealed_of_message ON sealed_values (message_id) WHERE message_id IS NOT NULL;
CREATE INDEX sealed_of_call ON sealed_values (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX sealed_of_principal ON sealed_values (principal) WHERE principal IS NOT NULL;
CREATE INDEX sealed_by_age ON sealed_values (made_at);

CREATE TABLE conditions (
    name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    state TEXT COLLATE "C" NOT NULL,
    since BIGINT NOT NULL
);

CREATE TABLE transcript_keys (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    public       TEXT COLLATE "C" NOT NULL,
    signs_from   BIGINT NOT NULL,
    signs_until  BIGINT,
    withdrawn_at BIGINT
);

CREATE TABLE countersignatures (
    thread_id TEXT COLLATE "C" NOT NULL,
    key       TEXT COLLATE "C" NOT NULL,
    seq       BIGINT NOT NULL,
    jws       TEXT COLLATE "C" NOT NULL,
    actor     TEXT COLLATE "C" NOT NULL,
    made_at   BIGINT NOT NULL,
    site      TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (thread_id, key)
);

CREATE TABLE feedback (
    thread_id  TEXT COLLATE "C" NOT NULL,
    message_id TEXT COLLATE "C" NOT NULL,
    principal  TEXT COLLATE "C" NOT NULL,
    rating     TEXT COLLATE "C" NOT NULL,
    reason     TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (thread_id, message_id, principal)
);
CREATE INDEX feedback_by_age ON feedback (created_at);
CREATE INDEX feedback_of_principal ON feedback (principal) WHERE principal <> '';

CREATE TABLE answered_questions (
    desk      TEXT COLLATE "C" NOT NULL,
    digest    BYTEA NOT NULL,
    page      TEXT COLLATE "C" NOT NULL,
    marked_by TEXT COLLATE "C" NOT NULL,
    marked_at BIGINT NOT NULL,
    PRIMARY KEY (desk, digest)
);
CREATE INDEX answered_questions_by_age ON answered_questions (marked_at);

INSERT INTO audit_anchor (n, link)
VALUES (0, '\x0000000000000000000000000000000000000000000000000000000000000000');

-- These stop mistakes, not somebody who may write to the database: against that there is the chain.
CREATE FUNCTION refuse_to_change_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of the audit log is never changed';
END $$;
CREATE TRIGGER audit_rows_stay BEFORE UPDATE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_to_change_audit();

CREATE FUNCTION refuse_to_drop_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.n > (SELECT max(n) FROM audit_anchor) THEN
        RAISE EXCEPTION 'a row of the audit log is dropped with all before it';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER audit_rows_go_from_the_start BEFORE DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_to_drop_audit();

CREATE FUNCTION tally_made_ticket() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ticket_tallies (kind, how, within, tickets, seconds)
    VALUES (NEW.kind, 'made', 0, 1, 0)
    ON CONFLICT (kind, how, within) DO UPDATE SET tickets = ticket_tallies.tickets + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER ticket_made AFTER INSERT ON tickets
FOR EACH ROW EXECUTE FUNCTION tally_made_ticket();

CREATE FUNCTION tally_ended_ticket() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    waited BIGINT := greatest(0, NEW.ended_at - NEW.created_at);
BEGIN
    INSERT INTO ticket_tallies (kind, how, within, tickets, seconds)
    VALUES (
        NEW.kind,
        NEW.state,
        CASE
            WHEN waited <= 60 THEN 60
            WHEN waited <= 300 THEN 300
            WHEN waited <= 900 THEN 900
            WHEN waited <= 3600 THEN 3600
            WHEN waited <= 14400 THEN 14400
            WHEN waited <= 86400 THEN 86400
            WHEN waited <= 259200 THEN 259200
            WHEN waited <= 604800 THEN 604800
            ELSE 0
        END,
        1,
        waited
    )
    ON CONFLICT (kind, how, within) DO UPDATE
    SET tickets = ticket_tallies.tickets + 1, seconds = ticket_tallies.seconds + excluded.seconds;
    RETURN NULL;
END $$;
CREATE TRIGGER ticket_ended AFTER UPDATE OF ended_at ON tickets
FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
EXECUTE FUNCTION tally_ended_ticket();
