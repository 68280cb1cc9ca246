"""Drives Chromium, the page and the console."""
