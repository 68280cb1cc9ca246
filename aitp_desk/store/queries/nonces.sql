-- keep_nonce: Notes that a nonce was used.
INSERT INTO nonces (digest, until) VALUES (:digest, :until) ON CONFLICT DO NOTHING;

-- nonce: Finds a nonce that was used.
SELECT until FROM nonces WHERE digest = :digest;

-- forget_nonces: Forgets nonces that have ended, the first of them first.
DELETE FROM nonces WHERE digest IN (
    SELECT digest FROM nonces WHERE until < :before ORDER BY until LIMIT :limit
) RETURNING until;
