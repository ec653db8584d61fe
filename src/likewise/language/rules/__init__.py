"""What becomes of each rule of the grammar, one method a rule.

`facts` are conditions and their predicates, `clauses` what stands behind them (rankings, options, alerts), `bodies` the
other kinds of subscription; `tokens` is what they are made of. `language/construction` puts them together.
"""
