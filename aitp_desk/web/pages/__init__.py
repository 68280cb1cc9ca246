"""What people see in a browser: the home page, the content's pages, errors in words."""
