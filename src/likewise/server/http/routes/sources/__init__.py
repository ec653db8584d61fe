"""The catalogue over HTTP: `list_request` shows sources and words, `announcements` takes what sources say,
`sense_request` says what they are told and asked for, `corrections` takes what people say.
"""
