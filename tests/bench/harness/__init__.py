"""Servers, load and samples that the benchmarks share."""
