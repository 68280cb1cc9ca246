-- use_nonce: Notes that a nonce was used; no row where it was known.
INSERT INTO nonces (digest, until) VALUES (:digest, :until) ON CONFLICT DO NOTHING RETURNING until;

-- forget_nonces: Forgets nonces that have ended, the first of them first.
DELETE FROM nonces WHERE digest IN (
    SELECT digest FROM nonces WHERE until < :before ORDER BY until LIMIT :limit
) RETURNING until;
