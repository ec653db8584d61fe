"""A space's folder: `files` opens it, `manifest` says what it holds, `writer` writes it whole or not at all."""
