"""For watchers of the process: is it alive, is it ready."""
