-- columns file: The columns of a file.
id, owner, created_at, expires_at, name, purpose, media_type, size, desk, sha256, object_key;

-- add_file: Inserts an uploaded file.
INSERT INTO files (
    id, owner, counted, created_at, expires_at, name, purpose, media_type, size, desk, sha256,
    object_key
) VALUES (
    :id, :owner, :counted, :created_at, :expires_at, :name, :purpose, :media_type, :size, :desk,
    :digest, :object_key
);

-- add_file_part: Inserts a part of a file.
INSERT INTO file_parts (file_id, n, bytes) VALUES (:file_id, :n, :bytes);

-- files_counted: Reads how many files and bytes count against an allowance.
SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM files WHERE counted = :counted;

-- file: Reads a file, without its bytes.
SELECT {file}
FROM files WHERE id = :id AND (expires_at IS NULL OR expires_at > :now);

-- file_slice: Reads a slice of a part of a file; its first byte is number 1.
SELECT substr(bytes, :first, :size) FROM file_parts WHERE file_id = :file_id AND n = :n;

-- files_upwards: Lists an owner's oldest files after one.
SELECT {file}
FROM files
WHERE owner = :owner AND desk = :desk AND id > :place AND (:purpose = '' OR purpose = :purpose)
  AND (expires_at IS NULL OR expires_at > :now)
ORDER BY id LIMIT :limit;

-- files_downwards: Lists an owner's newest files before one, newest first.
SELECT {file}
FROM files
WHERE owner = :owner AND desk = :desk AND id < :place AND (:purpose = '' OR purpose = :purpose)
  AND (expires_at IS NULL OR expires_at > :now)
ORDER BY id DESC LIMIT :limit;

-- give_file: Gives an ownerless file to a principal; it still counts against the same allowance.
UPDATE files SET owner = :owner WHERE id = :id AND desk = :desk AND owner IS NULL;

-- delete_file: Deletes a file.
DELETE FROM files WHERE id = :id;

-- delete_file_parts: Deletes a file's bytes.
DELETE FROM file_parts WHERE file_id = :id;

-- delete_expired_files: Deletes expired files, the first to expire first.
DELETE FROM files WHERE id IN (
    SELECT id FROM files WHERE expires_at <= :now ORDER BY expires_at, id LIMIT :limit
) RETURNING id;

-- delete_expired_file_parts: Deletes the bytes of expired files; runs before the files are deleted.
DELETE FROM file_parts WHERE file_id IN (
    SELECT id FROM files WHERE expires_at <= :now ORDER BY expires_at, id LIMIT :limit
);

-- files_after: Lists the oldest of all files after one, expired ones too.
SELECT {file} FROM files WHERE id > :after ORDER BY id LIMIT :limit;

-- move_file: Records where a file's bytes are and what they hash to, unless they were moved before.
UPDATE files SET object_key = :object_key, sha256 = :digest
WHERE id = :id AND coalesce(object_key, '') = :moved_from
RETURNING id;

-- add_file_object: Records an object before it is written.
INSERT INTO file_objects (key, unneeded_at) VALUES (:key, :unneeded_at);

-- file_object: Reads since when an object is unneeded; NULL while a file has it.
SELECT unneeded_at FROM file_objects WHERE key = :key;

-- keep_file_object: Records that a file has an object.
UPDATE file_objects SET unneeded_at = NULL WHERE key = :key;

-- release_file_object: Records that no file has an object.
UPDATE file_objects SET unneeded_at = 0 WHERE key = :key;

-- release_abandoned_file_objects: Records that objects whose file was never committed are unneeded.
UPDATE file_objects SET unneeded_at = 0 WHERE unneeded_at > 0 AND unneeded_at <= :now;

-- unneeded_file_objects: Lists objects to be deleted after one.
SELECT key FROM file_objects WHERE unneeded_at = 0 AND key > :after ORDER BY key LIMIT :limit;

-- drop_file_object: Forgets an object that was deleted.
DELETE FROM file_objects WHERE key = :key AND unneeded_at = 0;

-- file_objects_after: Lists recorded objects after one.
SELECT key FROM file_objects WHERE key > :after ORDER BY key LIMIT :limit;
