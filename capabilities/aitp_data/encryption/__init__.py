"""Values encrypted for the site's keys: JWE, and the draft's ECIES."""
