"""The catalogue over HTTP: `listing` shows sources and words, `announcements` takes what sources say,
`sensing` says what they are told and asked for, `corrections` takes what people say.
"""
