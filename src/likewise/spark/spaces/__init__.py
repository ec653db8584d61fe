"""Build vector spaces and word counts from a corpus on Spark."""
