-- Conversations on other platforms: each is carried by one thread.
CREATE TABLE transport_conversations (
    id         TEXT    NOT NULL PRIMARY KEY,
    transport  TEXT    NOT NULL,
    address    TEXT    NOT NULL,  -- what the platform calls it
    thread_id  TEXT    NOT NULL REFERENCES threads (id),
    desk       TEXT    NOT NULL,  -- name of the further site agent; empty for the site's own
    person     TEXT    NOT NULL,  -- the platform's id of whom the desk writes to
    principal  TEXT    NOT NULL,  -- as whom that person writes on the thread
    subject    TEXT    NOT NULL,
    language   TEXT    NOT NULL,
    state      TEXT    NOT NULL,  -- open, offered, stopped, unreachable, or waiting for the person to write
    reason     TEXT    NOT NULL,  -- of the state, for operators
    active_seq INTEGER NOT NULL,  -- the person's newest message here; later ones elsewhere are answered there
    queued_seq INTEGER NOT NULL,  -- up to which message jobs are queued
    sent_seq   INTEGER NOT NULL,  -- up to which messages are sent
    sent_parts INTEGER NOT NULL,  -- how many parts of the next message are sent
    last_ref   TEXT    NOT NULL,  -- the platform's id of the person's newest message
    heard_at   INTEGER NOT NULL,  -- Unix seconds of that message
    created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX transport_conversations_at
    ON transport_conversations (transport, address);
CREATE INDEX transport_conversations_of_thread ON transport_conversations (thread_id);
CREATE INDEX transport_conversations_of_principal ON transport_conversations (principal);

-- What the platform calls the messages, in both directions.
CREATE TABLE transport_messages (
    conversation TEXT    NOT NULL REFERENCES transport_conversations (id),
    seq          INTEGER NOT NULL,  -- of the message on the thread
    part         INTEGER NOT NULL,  -- from 0
    ref          TEXT    NOT NULL,  -- the platform's id
    PRIMARY KEY (conversation, seq, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX transport_messages_by_ref ON transport_messages (conversation, ref);

-- What a button or form below a sent message stands for.
CREATE TABLE transport_controls (
    token        TEXT    NOT NULL PRIMARY KEY,
    conversation TEXT    NOT NULL REFERENCES transport_conversations (id),
    capability   TEXT    NOT NULL,  -- whose request it answers
    request      TEXT    NOT NULL,
    answer       TEXT    NOT NULL,  -- JSON: the values of a button, and the words that it stands for
    expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX transport_controls_of_conversation ON transport_controls (conversation);
CREATE INDEX transport_controls_expired ON transport_controls (expires_at);

-- Bytes that came with an event, until it is handled, and where a transport has stopped reading.
CREATE TABLE transport_bytes (
    transport TEXT    NOT NULL,
    key       TEXT    NOT NULL,
    data      BLOB    NOT NULL,
    kept_at   INTEGER NOT NULL,
    expires   INTEGER NOT NULL,  -- whether it is deleted after some days
    PRIMARY KEY (transport, key)
) STRICT;
CREATE INDEX transport_bytes_expired ON transport_bytes (kept_at) WHERE expires = 1;
