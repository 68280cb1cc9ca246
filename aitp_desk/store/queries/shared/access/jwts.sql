-- revoke_jwts: Revokes tokens of an issuer. A second revocation moves the time forward only.
INSERT INTO revoked_jwts (issuer, claim, value, revoked_at)
VALUES (:issuer, :claim, :value, :revoked_at)
ON CONFLICT (issuer, claim, value)
DO UPDATE SET revoked_at = excluded.revoked_at
WHERE excluded.revoked_at > revoked_jwts.revoked_at;

-- forget_moot_revocations: Deletes revocations whose tokens have all expired.
DELETE FROM revoked_jwts WHERE revoked_at < :before;

-- jwts_revoked_at: Reads when the tokens of an issuer with a given claim were revoked.
SELECT revoked_at FROM revoked_jwts
WHERE issuer = :issuer AND claim = :claim AND value = :value;
