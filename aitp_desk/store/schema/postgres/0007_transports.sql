-- Conversations on other platforms; see ../sqlite/0057.
CREATE TABLE transport_conversations (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    transport  TEXT COLLATE "C" NOT NULL,
    address    TEXT COLLATE "C" NOT NULL,
    thread_id  TEXT COLLATE "C" NOT NULL,
    desk       TEXT COLLATE "C" NOT NULL,
    person     TEXT COLLATE "C" NOT NULL,
    principal  TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    language   TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    reason     TEXT COLLATE "C" NOT NULL,
    active_seq BIGINT NOT NULL,
    queued_seq BIGINT NOT NULL,
    sent_seq   BIGINT NOT NULL,
    sent_parts BIGINT NOT NULL,
    last_ref   TEXT COLLATE "C" NOT NULL,
    heard_at   BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX transport_conversations_at
    ON transport_conversations (transport, address);
CREATE INDEX transport_conversations_of_thread ON transport_conversations (thread_id);
CREATE INDEX transport_conversations_of_principal ON transport_conversations (principal);

CREATE TABLE transport_messages (
    conversation TEXT COLLATE "C" NOT NULL,
    seq          BIGINT NOT NULL,
    part         BIGINT NOT NULL,
    ref          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation, seq, part)
);
CREATE INDEX transport_messages_by_ref ON transport_messages (conversation, ref);

CREATE TABLE transport_controls (
    token        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    conversation TEXT COLLATE "C" NOT NULL,
    capability   TEXT COLLATE "C" NOT NULL,
    request      TEXT COLLATE "C" NOT NULL,
    answer       TEXT COLLATE "C" NOT NULL,
    expires_at   BIGINT NOT NULL
);
CREATE INDEX transport_controls_of_conversation ON transport_controls (conversation);
CREATE INDEX transport_controls_expired ON transport_controls (expires_at);

CREATE TABLE transport_bytes (
    transport TEXT COLLATE "C" NOT NULL,
    key       TEXT COLLATE "C" NOT NULL,
    data      BYTEA NOT NULL,
    principal TEXT COLLATE "C" NOT NULL,
    kept_at   BIGINT NOT NULL,
    expires   BIGINT NOT NULL,
    PRIMARY KEY (transport, key)
);
CREATE INDEX transport_bytes_expired ON transport_bytes (kept_at) WHERE expires = 1;
CREATE INDEX transport_bytes_of_principal ON transport_bytes (principal);

CREATE TABLE operator_tickets (
    ticket          TEXT COLLATE "C" NOT NULL,
    transport       TEXT COLLATE "C" NOT NULL,
    address         TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    taken_by        TEXT COLLATE "C" NOT NULL,
    seq             BIGINT NOT NULL,
    steps           BIGINT NOT NULL,
    queued          BIGINT NOT NULL,
    queued_state    TEXT COLLATE "C" NOT NULL,
    queued_by       TEXT COLLATE "C" NOT NULL,
    queued_seq      BIGINT NOT NULL,
    answerer       TEXT COLLATE "C" NOT NULL,
    answerer_until BIGINT NOT NULL,
    told_at         BIGINT NOT NULL,
    is_over         BIGINT NOT NULL,
    PRIMARY KEY (ticket, transport)
);
CREATE INDEX operator_tickets_open ON operator_tickets (ticket, transport) WHERE is_over = 0;
CREATE INDEX operator_tickets_at ON operator_tickets (transport, address);
CREATE INDEX operator_tickets_over ON operator_tickets (told_at) WHERE is_over = 1;

CREATE TABLE operator_messages (
    transport TEXT COLLATE "C" NOT NULL,
    address   TEXT COLLATE "C" NOT NULL,
    ref       TEXT COLLATE "C" NOT NULL,
    ticket    TEXT COLLATE "C" NOT NULL,
    step      BIGINT NOT NULL,
    PRIMARY KEY (transport, address, ref)
);
CREATE INDEX operator_messages_of_ticket ON operator_messages (ticket, transport, step);

CREATE TABLE operator_controls (
    token      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    ticket     TEXT COLLATE "C" NOT NULL,
    transport  TEXT COLLATE "C" NOT NULL,
    deed       TEXT COLLATE "C" NOT NULL,
    person     TEXT COLLATE "C" NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX operator_controls_expired ON operator_controls (expires_at);

CREATE TABLE operator_people (
    transport TEXT COLLATE "C" NOT NULL,
    person    TEXT COLLATE "C" NOT NULL,
    key_id    TEXT COLLATE "C" NOT NULL,
    version   BIGINT NOT NULL,
    code      BYTEA NOT NULL,
    bound_at  BIGINT NOT NULL,
    PRIMARY KEY (transport, person)
);
CREATE INDEX operator_people_of_key ON operator_people (key_id);

CREATE TABLE operator_codes (
    hash       BYTEA NOT NULL PRIMARY KEY,
    transport  TEXT COLLATE "C" NOT NULL,
    key_id     TEXT COLLATE "C" NOT NULL,
    version    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX operator_codes_expired ON operator_codes (expires_at);
