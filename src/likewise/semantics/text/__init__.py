"""Text to words: the `tokenizer`, also for whole arrays (`token_arrays`), `stop_words`, and `identifiers` cut apart."""
