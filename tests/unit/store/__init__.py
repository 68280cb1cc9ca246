"""Tests of the store on every engine."""
