"""Money under every fault: state machines over a real desk and its store, and what must hold."""
