"""HAC representations: HAC's envelope around the plain response."""
