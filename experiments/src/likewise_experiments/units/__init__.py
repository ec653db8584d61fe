"""Numbers with units, whole numbers, dates and lists, in every engine, against exact arithmetic.

`cases` draws readings and questions, `yardstick` answers them with fractions and pint's definitions, on its own;
`experiment` asks the engines, one by one, in batches and through Arrow.
"""
