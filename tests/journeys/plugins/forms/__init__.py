"""Tests of forms, secrets and sealed values in conversations."""
