"""Extracts the text of PDF files, page by page; needs the extra ``pdf``."""
