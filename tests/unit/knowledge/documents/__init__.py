"""Tests of documents, chunks and languages."""
