"""AHP 0.1: the manifest, the content document and the conversational endpoint."""
