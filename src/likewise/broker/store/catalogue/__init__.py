"""What is known about sources, on disk: `rows` keeps what they announced, what people corrected, and whom they keep."""
