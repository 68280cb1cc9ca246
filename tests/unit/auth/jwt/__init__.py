"""Tests of JSON Web Tokens and their key sets."""
