"""Tests of threads, runs, files and chains."""
