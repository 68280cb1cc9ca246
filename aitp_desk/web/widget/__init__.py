"""The chat component that web pages include by one script tag."""
