"""Settings of the site's people."""
