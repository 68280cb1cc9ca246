-- The keys that have signed transcripts: their public halves, which stay for good. The private ones
-- are derived from the data keys.
CREATE TABLE transcript_keys (
    id           TEXT    NOT NULL PRIMARY KEY,  -- thumbprint (RFC 7638)
    public       TEXT    NOT NULL,              -- in base64url
    signs_from   INTEGER NOT NULL,
    signs_until  INTEGER,                       -- NULL while it signs
    withdrawn_at INTEGER                        -- since when it is known to be in other hands
) STRICT, WITHOUT ROWID;

-- What others have signed of a thread: where its chain stood.
CREATE TABLE countersignatures (
    thread_id TEXT    NOT NULL REFERENCES threads (id),
    key       TEXT    NOT NULL,  -- thumbprint of the key that signed
    seq       INTEGER NOT NULL,  -- the newest message that it covers
    jws       TEXT    NOT NULL,
    actor     TEXT    NOT NULL,  -- as whom whoever brought it speaks there
    made_at   INTEGER NOT NULL,
    PRIMARY KEY (thread_id, key)
) STRICT, WITHOUT ROWID;
