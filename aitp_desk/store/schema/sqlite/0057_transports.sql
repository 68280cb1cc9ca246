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
    principal TEXT    NOT NULL,  -- whose they are; empty if nobody is known
    kept_at   INTEGER NOT NULL,
    expires   INTEGER NOT NULL,  -- whether it is deleted after some days
    PRIMARY KEY (transport, key)
) STRICT;
CREATE INDEX transport_bytes_expired ON transport_bytes (kept_at) WHERE expires = 1;
CREATE INDEX transport_bytes_of_principal ON transport_bytes (principal);

-- Tickets that are shown to operators on a platform.
CREATE TABLE operator_tickets (
    ticket          TEXT    NOT NULL,
    transport       TEXT    NOT NULL,
    address         TEXT    NOT NULL,  -- what the platform calls the conversation about it; empty before the first message
    state           TEXT    NOT NULL,  -- of the ticket, as it was told last; empty before the first message
    taken_by        TEXT    NOT NULL,  -- as it was told last; empty for nobody
    seq             INTEGER NOT NULL,  -- up to which messages of its thread are told
    steps           INTEGER NOT NULL,  -- how many messages were sent
    queued          INTEGER NOT NULL,  -- how many jobs were queued
    queued_state    TEXT    NOT NULL,  -- state, taken_by and seq as of the last of them
    queued_by       TEXT    NOT NULL,
    queued_seq      INTEGER NOT NULL,
    answerer       TEXT    NOT NULL,  -- the person whose next reply is the answer; empty for nobody
    answerer_until INTEGER NOT NULL,
    told_at         INTEGER NOT NULL,
    is_over         INTEGER NOT NULL,  -- whether the end was told
    PRIMARY KEY (ticket, transport)
) STRICT, WITHOUT ROWID;
CREATE INDEX operator_tickets_open ON operator_tickets (ticket, transport) WHERE is_over = 0;
CREATE INDEX operator_tickets_at ON operator_tickets (transport, address);
CREATE INDEX operator_tickets_over ON operator_tickets (told_at) WHERE is_over = 1;

-- What platforms call the messages about them.
CREATE TABLE operator_messages (
    transport TEXT    NOT NULL,
    address   TEXT    NOT NULL,  -- the conversation as the platform calls it
    ref       TEXT    NOT NULL,
    ticket    TEXT    NOT NULL,
    step      INTEGER NOT NULL,
    PRIMARY KEY (transport, address, ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX operator_messages_of_ticket ON operator_messages (ticket, transport, step);

-- What a button below such a message does.
CREATE TABLE operator_controls (
    token      TEXT    NOT NULL PRIMARY KEY,
    ticket     TEXT    NOT NULL,
    transport  TEXT    NOT NULL,
    deed       TEXT    NOT NULL,
    person     TEXT    NOT NULL,  -- the platform's id of who may press it; empty for every operator
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX operator_controls_expired ON operator_controls (expires_at);

-- People on platforms who act as the holders of keys.
CREATE TABLE operator_people (
    transport TEXT    NOT NULL,
    person    TEXT    NOT NULL,  -- the platform's id
    key_id    TEXT    NOT NULL,
    version   INTEGER NOT NULL,  -- of the key's secret
    code      BLOB    NOT NULL,  -- hash of the code that was used
    bound_at  INTEGER NOT NULL,
    PRIMARY KEY (transport, person)
) STRICT;
CREATE INDEX operator_people_of_key ON operator_people (key_id);

-- Codes with which they prove that.
CREATE TABLE operator_codes (
    hash       BLOB    NOT NULL PRIMARY KEY,
    transport  TEXT    NOT NULL,
    key_id     TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX operator_codes_expired ON operator_codes (expires_at);
