"""Tests of schemas in the OpenAPI document."""
