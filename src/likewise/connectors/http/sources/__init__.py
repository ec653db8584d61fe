"""The catalogue over HTTP: `listing` shows sources and words, `announcing` takes what sources say, `correcting` what
people do."""
