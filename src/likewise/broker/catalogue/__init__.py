"""The catalogue: what every source means, announced, learnt, corrected once (docs/guides/catalogue.md).

`follower` is a thread beside the log that looks at what came, once a second; `learnt` keeps what was `seen` as columns,
by `shapes`, and `saved` brings it over a restart. `announcing` writes what sources and people say into the log.
`showing` puts all of it together, `understanding` says what an attribute is taken for, and `questions` which answer
would change most. `wanted` keeps the demand of every announcement, `reputation` what a source is worth, and
`activation` who shall sense; `telling` names the topics of MQTT for that. `expecting` knows whom alerts wait for.
"""
