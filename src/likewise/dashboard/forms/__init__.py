"""A subscription as a form: what, how it compares, in which unit, where, and how often; to text and back.

`form` has the values, `to_text` makes the language's text of them, `reading` makes them of a subscription where a form
can say it (else it says why not), `fields` shows it.
"""
