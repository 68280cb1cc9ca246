"""Calls of actions by their arguments, and an OpenAPI 3.1 document of the desk."""
