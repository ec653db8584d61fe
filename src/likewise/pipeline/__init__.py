"""Work on whole corpora, on Spark: spaces from documents, information content from word counts."""
