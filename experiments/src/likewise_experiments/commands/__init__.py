"""What the command line gets by the entry points `likewise.commands`: `likewise eval` (`app`) and `likewise data`.

One module for each evaluation, and `everything` in one page.
"""
