-- People on platforms who want no messages. A row outlives their conversations and their erasure.
CREATE TABLE transport_opt_outs (
    person BLOB NOT NULL PRIMARY KEY  -- keyed hash of the caller's id
) STRICT, WITHOUT ROWID;
