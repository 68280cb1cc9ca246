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
    kept_at   BIGINT NOT NULL,
    expires   BIGINT NOT NULL,
    PRIMARY KEY (transport, key)
);
CREATE INDEX transport_bytes_expired ON transport_bytes (kept_at) WHERE expires = 1;
