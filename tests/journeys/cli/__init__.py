"""Tests of the commands of aitp-desk."""
