"""Tests of the content: sources, documents, index and search."""
