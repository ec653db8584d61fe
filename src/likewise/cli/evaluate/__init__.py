"""`likewise eval`: one module an evaluation, and `everything` in one page."""
