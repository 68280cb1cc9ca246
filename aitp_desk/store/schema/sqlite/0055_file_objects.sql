-- Objects of a bucket that hold the bytes of files. Each has its row before it is written and until it
-- is deleted, so none is forgotten, and none of another desk in the same bucket is ever touched.
CREATE TABLE file_objects (
    key         TEXT    NOT NULL PRIMARY KEY,  -- random: neither a file's id nor its name
    unneeded_at INTEGER  -- NULL: a file has it; 0: to be deleted; else: so late it is not being written
) STRICT, WITHOUT ROWID;
CREATE INDEX file_objects_unneeded ON file_objects (unneeded_at, key) WHERE unneeded_at IS NOT NULL;
ALTER TABLE files ADD COLUMN sha256 BLOB;      -- of its bytes; NULL: uploaded by an older version
ALTER TABLE files ADD COLUMN object_key TEXT;  -- NULL: its bytes stand in file_parts
CREATE TRIGGER file_object_unneeded AFTER DELETE ON files WHEN OLD.object_key IS NOT NULL
BEGIN
    UPDATE file_objects SET unneeded_at = 0 WHERE key = OLD.object_key;
END;
