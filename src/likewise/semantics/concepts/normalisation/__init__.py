"""Names read in plain words before they are taken apart: each once (`normaliser`), and per pair (`short_forms`)."""
