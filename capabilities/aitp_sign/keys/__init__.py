"""Keys and signatures as text: Ed25519, detached JWS, and the site's own keys."""
