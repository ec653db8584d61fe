"""Tokenisation: `tokenizer`, `token_arrays` (whole Arrow arrays), `stop_words`, `identifiers`."""
