"""The public pages: the home page, the content's pages, errors as text."""
