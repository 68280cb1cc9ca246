"""Calls the models of the settings over the APIs that they speak."""
