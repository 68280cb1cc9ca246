"""The messages of AITP-01, of its earlier draft, and the site's own."""
