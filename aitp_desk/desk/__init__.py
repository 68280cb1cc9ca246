"""What the desk does, a verb a file. It knows no protocol and no HTTP."""
