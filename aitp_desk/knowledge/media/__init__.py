"""What pages offer besides their text: files, pictures, recordings, records."""
