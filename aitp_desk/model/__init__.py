"""The domain model: plain values and pure rules, without I/O."""
