"""The catalogue over HTTP: `listing` shows sources and words, `announcing` takes what sources say, `telling` says what
they are told and asked for, `correcting` takes what people say."""
