"""The second face of answers: HAC's envelope around what is answered anyway."""
