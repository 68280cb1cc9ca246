"""The page that shows an OpenAPI document to people."""
