"""The dialogue around an action call: what is asked, and what a reply changes."""
