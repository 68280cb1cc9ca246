-- add_data_key: Inserts a data key, wrapped with a master key.
INSERT INTO data_keys (version, master, wrapped, made_at)
VALUES (:version, :master, :wrapped, :made_at);

-- data_keys: Reads all wrapped data keys.
SELECT version, master, wrapped, made_at FROM data_keys ORDER BY version, master;

-- delete_other_wrappings: Deletes the data keys that other master keys wrap.
DELETE FROM data_keys WHERE master <> :master;

-- revoke_all_tokens: Revokes all API keys.
UPDATE tokens SET revoked_at = :revoked_at WHERE revoked_at IS NULL RETURNING id;

-- revoke_all_clients: Revokes all OAuth clients.
UPDATE clients SET revoked_at = :revoked_at WHERE revoked_at IS NULL RETURNING id;

-- delete_all_links: Deletes all links that share threads.
DELETE FROM grants WHERE hash IS NOT NULL RETURNING id;

-- delete_all_signing_keys: Deletes the keys that signed access tokens; the first is derived again
-- from the first data key.
DELETE FROM signing_keys;

-- is_keyed: Returns whether anything stored depends on a key.
SELECT CAST(EXISTS (SELECT 1 FROM tokens) OR EXISTS (SELECT 1 FROM clients)
    OR EXISTS (SELECT 1 FROM audit) OR EXISTS (SELECT 1 FROM idempotency)
    OR EXISTS (SELECT 1 FROM files) AS INTEGER);
