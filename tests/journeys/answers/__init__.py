"""Tests of answers: content, languages, embeddings and Claude."""
