"""Tests of declared media."""
