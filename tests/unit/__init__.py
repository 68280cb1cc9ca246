"""Tests of single packages; the folders mirror aitp_desk."""
