"""Tests of the capabilities that come with the desk."""
