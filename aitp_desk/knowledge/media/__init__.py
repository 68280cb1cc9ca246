"""Reads the media that pages offer: files, pictures, recordings, records."""
