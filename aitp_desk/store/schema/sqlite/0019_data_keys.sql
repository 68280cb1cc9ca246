-- The data keys, which everything secret comes from, each wrapped by the master key, which is not
-- here. While the master key is exchanged each stands here twice.
CREATE TABLE data_keys (
    version INTEGER NOT NULL,           -- from 1
    master  TEXT    NOT NULL,           -- fingerprint of the master key
    wrapped BLOB    NOT NULL,
    made_at INTEGER NOT NULL,           -- Unix seconds
    PRIMARY KEY (version, master)
) STRICT;
