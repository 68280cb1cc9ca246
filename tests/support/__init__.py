"""Clients, sites and doubles that tests share."""
