"""The desk's figures for Prometheus."""
