"""Which action words ask for, judged on labelled utterances."""
