-- How many tokens models have used, by day. A restart does not make a day anew.
CREATE TABLE tokens_used (
    day     INTEGER NOT NULL,   -- since 1970-01-01 (UTC)
    used_by BLOB    NOT NULL,   -- keyed hash of the caller they were used for; empty: of all together
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (day, used_by)
) STRICT, WITHOUT ROWID;
