-- Programs that get access tokens here (OAuth 2.0 clients), and the keys that sign these.
CREATE TABLE clients (
    id            TEXT    NOT NULL PRIMARY KEY,
    name          TEXT    NOT NULL,
    hash          BLOB    NOT NULL,    -- keyed hash of the secret
    scopes        TEXT    NOT NULL,    -- JSON list: the most that its tokens may have
    is_registered INTEGER NOT NULL,    -- 1: it registered itself; 0: the owner made it
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,             -- NULL: never
    revoked_at    INTEGER
) STRICT;
CREATE UNIQUE INDEX clients_live_name ON clients (name)
    WHERE is_registered = 0 AND revoked_at IS NULL;
CREATE INDEX clients_registered ON clients (expires_at) WHERE is_registered = 1;

-- The keys after the first one. A key itself is derived from the master key and its version.
CREATE TABLE signing_keys (
    version    INTEGER NOT NULL PRIMARY KEY,
    made_at    INTEGER NOT NULL,
    signs_from INTEGER NOT NULL        -- published before, so that whoever verifies knows it by then
) STRICT;
