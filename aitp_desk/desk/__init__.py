"""The desk's services, one package per subject. They know no protocol and no HTTP."""
