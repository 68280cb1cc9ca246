"""Compares what payers were promised with what the desk keeps."""
