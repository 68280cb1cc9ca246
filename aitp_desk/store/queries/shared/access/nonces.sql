-- keep_nonce: Inserts a used nonce.
INSERT INTO nonces (digest, until) VALUES (:nonce, :until) ON CONFLICT DO NOTHING;

-- use_nonce: Inserts a used nonce; returns a row if it is new.
INSERT INTO nonces (digest, until) VALUES (:nonce, :until) ON CONFLICT DO NOTHING
RETURNING until;

-- nonce: Finds a used nonce.
SELECT until FROM nonces WHERE until = :until AND digest = :nonce;

-- last_nonce: Finds the nonce that expires last.
SELECT max(until) FROM nonces;

-- forget_nonces: Deletes expired nonces, the first to expire first.
DELETE FROM nonces WHERE (until, digest) IN (
    SELECT until, digest FROM nonces WHERE until < :before ORDER BY until LIMIT :limit
) RETURNING until;
