"""Commands that set up a site, and try or examine its desk."""
