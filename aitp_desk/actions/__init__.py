"""The site's own functions as actions: how they are declared, and what calls them."""
