"""Health checks: is the process alive, is the desk ready."""
