-- columns client: The columns of an OAuth client.
id, name, data_key, hash, scopes, is_registered, created_at, expires_at, revoked_at, previous_hash,
previous_data_key, previous_until, version;

-- add_client: Inserts a client.
INSERT INTO clients (id, name, data_key, hash, scopes, is_registered, created_at, expires_at)
VALUES (:id, :name, :data_key, :hash, :scopes, :is_registered, :created_at, :expires_at);

-- live_client_named: Finds the live client of a name that the owner made.
SELECT id FROM clients WHERE name = :name AND is_registered = 0 AND revoked_at IS NULL;

-- live_client: Finds a live client by its id, or else one that the owner made by its name.
SELECT id FROM clients
WHERE (id = :id_or_name AND revoked_at IS NULL)
    OR (name = :id_or_name AND is_registered = 0 AND revoked_at IS NULL)
ORDER BY CASE WHEN id = :id_or_name THEN 0 ELSE 1 END LIMIT 1;

-- revoke_client: Marks a client as revoked.
UPDATE clients SET revoked_at = :revoked_at WHERE id = :id
RETURNING {client};

-- rotate_client: Adds a new secret to a client; the previous one is kept.
UPDATE clients SET
    previous_hash = hash, previous_data_key = data_key, previous_until = :previous_until,
    hash = :hash, data_key = :data_key, version = version + 1
WHERE id = :id
RETURNING {client};

-- client: Reads a client by its id.
SELECT {client}
FROM clients WHERE id = :id;

-- clients: Lists all clients, the oldest first.
SELECT {client}
FROM clients ORDER BY created_at, id;

-- count_registered_clients: Counts live clients that registered themselves.
SELECT count(*) FROM clients
WHERE is_registered = 1 AND revoked_at IS NULL AND expires_at > :now;

-- delete_expired_clients: Deletes expired clients that registered themselves.
DELETE FROM clients WHERE id IN (
    SELECT id FROM clients WHERE is_registered = 1 AND expires_at <= :now
    ORDER BY expires_at LIMIT :limit
) RETURNING id;

-- add_signing_key: Inserts the next signing key with the time from which it signs.
INSERT INTO signing_keys (version, made_at, signs_from, data_key, voids_earlier)
VALUES (:version, :made_at, :signs_from, :data_key, :voids_earlier);

-- signing_keys: Lists the keys after the first, the oldest first.
SELECT version, made_at, signs_from, data_key, voids_earlier FROM signing_keys ORDER BY version;
