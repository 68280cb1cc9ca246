-- keep_nonce: Notes that a nonce was used.
INSERT INTO nonces (digest, until) VALUES (:nonce, :until) ON CONFLICT DO NOTHING;

-- nonce: Finds a nonce that was used.
SELECT until FROM nonces WHERE until = :until AND digest = :nonce;

-- last_nonce: Finds the nonce that ends last.
SELECT max(until) FROM nonces;

-- forget_nonces: Forgets nonces that have ended, the first of them first.
DELETE FROM nonces WHERE (until, digest) IN (
    SELECT until, digest FROM nonces WHERE until < :before ORDER BY until LIMIT :limit
) RETURNING until;
