"""Figures of the desk, as Prometheus reads them."""
