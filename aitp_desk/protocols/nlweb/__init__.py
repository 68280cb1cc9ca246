"""NLWeb: questions in natural language, answered with schema.org objects."""
