"""Fixtures of the tests that read a website."""

from tests.support.sites.fixtures import egress, site

__all__ = ["egress", "site"]
