-- Objects of a bucket that hold the bytes of files. Each has its row before it is written and until it
-- is deleted, so none is forgotten, and none of another desk in the same bucket is ever touched.
CREATE TABLE file_objects (
    key         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    unneeded_at BIGINT
);
CREATE INDEX file_objects_unneeded ON file_objects (unneeded_at, key) WHERE unneeded_at IS NOT NULL;
ALTER TABLE files ADD COLUMN sha256 BYTEA;
ALTER TABLE files ADD COLUMN object_key TEXT COLLATE "C";
CREATE FUNCTION release_file_object() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE file_objects SET unneeded_at = 0 WHERE key = OLD.object_key;
    RETURN NULL;
END $$;
CREATE TRIGGER file_object_unneeded AFTER DELETE ON files
FOR EACH ROW WHEN (OLD.object_key IS NOT NULL) EXECUTE FUNCTION release_file_object();
