-- What may be used once: nonces of signed requests, ids of tokens. A row stays until whatever carried
-- it is refused for its age, and some time longer. What carries a nonce says when it ends: what is
-- sent again ends at the same time. So rows are appended, and looked for, near the right edge.
CREATE TABLE nonces (
    until  INTEGER NOT NULL,  -- Unix seconds
    digest BLOB    NOT NULL,  -- keyed, of scope and nonce: no longer however long they are
    PRIMARY KEY (until, digest)
) STRICT, WITHOUT ROWID;
