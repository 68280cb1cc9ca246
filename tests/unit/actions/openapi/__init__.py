"""Tests of actions from OpenAPI documents."""
