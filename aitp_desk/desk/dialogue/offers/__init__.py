"""Builds answers richer than text: media, data and lists of pages."""
