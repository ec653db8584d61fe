"""Names and payloads of 32 domains, labelled by hand: what is found of the same, and what is kept apart."""
