"""Settings of web servers in front of a desk and its website: templates, and what fills them."""
