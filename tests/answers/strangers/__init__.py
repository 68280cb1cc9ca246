"""Questions of strangers about sites that nobody here wrote."""
