"""Tests of the REST calls and the OpenAPI document."""
