"""Imports the site's own code from its folder."""
