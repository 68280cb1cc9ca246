-- Tokens of others that are refused although they are not over: one by its id (jti), or all that were
-- issued about somebody (sub) until then. Only the owner adds rows, so that there are few.
CREATE TABLE revoked_jwts (
    issuer     TEXT    NOT NULL,    -- what the owner calls the issuer
    claim      TEXT    NOT NULL,    -- jti or sub
    value      TEXT    NOT NULL,
    revoked_at INTEGER NOT NULL,    -- Unix seconds
    PRIMARY KEY (issuer, claim, value)
) STRICT, WITHOUT ROWID;
