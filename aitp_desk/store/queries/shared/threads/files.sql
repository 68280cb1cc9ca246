-- columns file: The columns of a file.
id, owner, created_at, expires_at, name, purpose, media_type, size, desk;

-- add_file: Inserts an uploaded file.
INSERT INTO files (
    id, owner, counted, created_at, expires_at, name, purpose, media_type, size, desk
) VALUES (
    :id, :owner, :counted, :created_at, :expires_at, :name, :purpose, :media_type, :size, :desk
);

-- add_file_part: Inserts a part of a file.
INSERT INTO file_parts (file_id, n, bytes) VALUES (:file_id, :n, :bytes);

-- files_counted: Reads how many files and bytes count against an allowance.
SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM files WHERE counted = :counted;

-- file: Reads a file, without its bytes.
SELECT {file}
FROM files WHERE id = :id AND (expires_at IS NULL OR expires_at > :now);

-- file_part: Reads a part of a file.
SELECT bytes FROM file_parts WHERE file_id = :file_id AND n = :n;

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
