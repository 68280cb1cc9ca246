"""Reading what words want done."""
