-- add_data_key: Keeps a data key as a master key wraps it.
INSERT INTO data_keys (version, master, wrapped, made_at)
VALUES (:version, :master, :wrapped, :made_at);

-- data_keys: Reads all wrapped data keys.
SELECT version, master, wrapped, made_at FROM data_keys ORDER BY version, master;

-- delete_other_wrappings: Forgets the data keys as other master keys wrap them.
DELETE FROM data_keys WHERE master <> :master;

-- revoke_all_tokens: Revokes all keys of callers.
UPDATE tokens SET revoked_at = :revoked_at WHERE revoked_at IS NULL RETURNING id;

-- revoke_all_clients: Revokes all OAuth clients.
UPDATE clients SET revoked_at = :revoked_at WHERE revoked_at IS NULL RETURNING id;

-- delete_all_links: Takes back all links by which threads are shared.
DELETE FROM grants WHERE hash IS NOT NULL RETURNING id;

-- delete_all_signing_keys: Forgets the keys that signed access tokens; the first comes anew from the
-- first data key.
DELETE FROM signing_keys;

-- is_keyed: Tells whether anything is kept that was made with a key.
SELECT EXISTS (SELECT 1 FROM tokens) OR EXISTS (SELECT 1 FROM clients)
    OR EXISTS (SELECT 1 FROM audit) OR EXISTS (SELECT 1 FROM idempotency)
    OR EXISTS (SELECT 1 FROM files);
