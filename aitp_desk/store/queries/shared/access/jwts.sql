-- revoke_jwts: Revokes tokens of an issuer. One that is revoked again is so from the later time on.
INSERT INTO revoked_jwts (issuer, claim, value, revoked_at)
VALUES (:issuer, :claim, :value, :revoked_at)
ON CONFLICT (issuer, claim, value)
DO UPDATE SET revoked_at = max(revoked_jwts.revoked_at, excluded.revoked_at);

-- forget_moot_revocations: Forgets revocations of tokens that have all expired since.
DELETE FROM revoked_jwts WHERE revoked_at < :before;

-- jwts_revoked_at: Reads when tokens of an issuer were revoked that make a claim.
SELECT revoked_at FROM revoked_jwts
WHERE issuer = :issuer AND claim = :claim AND value = :value;
