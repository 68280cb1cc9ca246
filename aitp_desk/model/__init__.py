"""What there is: plain values and pure rules. No I/O."""
