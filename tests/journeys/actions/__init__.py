"""Tests of the site's own actions and resources."""
