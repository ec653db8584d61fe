"""The folder format of a space: `files` opens it, `manifest` describes it, `writer` writes it atomically."""
