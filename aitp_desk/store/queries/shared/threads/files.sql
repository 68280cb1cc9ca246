-- columns file: Of a file, as it is read.
id, owner, created_at, expires_at, name, purpose, media_type, size, desk;

-- add_file: Keeps an uploaded file.
INSERT INTO files (
    id, owner, counted, created_at, expires_at, name, purpose, media_type, size, desk
) VALUES (
    :id, :owner, :counted, :created_at, :expires_at, :name, :purpose, :media_type, :size, :desk
);

-- add_file_part: Keeps a piece of a file.
INSERT INTO file_parts (file_id, n, bytes) VALUES (:file_id, :n, :bytes);

-- files_counted: Says how many files count against an allowance, and how many bytes.
SELECT count(*), coalesce(sum(size), 0) FROM files WHERE counted = :counted;

-- file: Reads a file, without its bytes.
SELECT {file}
FROM files WHERE id = :id AND (expires_at IS NULL OR expires_at > :now);

-- file_part: Reads a piece of a file.
SELECT bytes FROM file_parts WHERE file_id = :file_id AND n = :n;

-- file_slice: Reads a slice of a piece of a file; its first byte is number 1.
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

-- give_file: Makes a file somebody's that has no owner; whose allowance it uses up stays.
UPDATE files SET owner = :owner WHERE id = :id AND desk = :desk AND owner IS NULL;

-- delete_file: Drops a file.
DELETE FROM files WHERE id = :id;

-- delete_file_parts: Drops a file's bytes.
DELETE FROM file_parts WHERE file_id = :id;

-- delete_expired_files: Drops files that have had their time, the first to expire first.
DELETE FROM files WHERE id IN (
    SELECT id FROM files WHERE expires_at <= :now ORDER BY expires_at, id LIMIT :limit
) RETURNING id;

-- delete_expired_file_parts: Drops their bytes; the same files, so before them.
DELETE FROM file_parts WHERE file_id IN (
    SELECT id FROM files WHERE expires_at <= :now ORDER BY expires_at, id LIMIT :limit
);
