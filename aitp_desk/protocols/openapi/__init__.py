"""Actions called by their arguments, and an OpenAPI 3.1 document of all that is served."""
