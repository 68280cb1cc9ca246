"""Exports the site as static files: AHP's MODE1 (AHP 0.1, section 5.1)."""
