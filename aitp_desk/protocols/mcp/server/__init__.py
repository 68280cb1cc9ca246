"""Connects the official SDK's server, and serves requests that it does not take."""
