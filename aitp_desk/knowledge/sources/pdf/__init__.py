"""PDF files as text, page by page; needs the extra ``pdf``."""
