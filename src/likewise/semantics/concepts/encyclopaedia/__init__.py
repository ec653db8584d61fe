"""The encyclopaedia of measured things: its domains (`entries`), their form (`form`), and the look-up (`lexicon`)."""
