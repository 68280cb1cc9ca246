-- What may be used once: nonces of signed requests, ids of tokens. A row stays until whatever carried
-- it is refused for its age, and some time longer.
CREATE TABLE nonces (
    digest BLOB    NOT NULL PRIMARY KEY,  -- keyed, of scope and nonce: no longer however long they are
    until  INTEGER NOT NULL               -- Unix seconds
) STRICT, WITHOUT ROWID;
CREATE INDEX nonces_by_end ON nonces (until);
