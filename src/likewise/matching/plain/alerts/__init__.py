"""What an alert means, as pure functions: which events move it, the story of one key, what a digest gathers."""
