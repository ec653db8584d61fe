"""The data of published experiments: where each set comes from, under which licence, and how it is brought here.

Nothing is downloaded unless it is asked for (`likewise data get NAME`). `catalogue` says what there is, `download`
brings files and checks them, `conversion` makes of them what the evaluations read.
"""
