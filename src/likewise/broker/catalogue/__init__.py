"""The catalogue: what every source means, as announced, observed and corrected (docs/guides/catalogue.md).

`follower` is a thread beside the log that looks at what came, once a second; `source_profiles` keeps what was
`observations` as columns, by `shapes`, and `source_profiles` brings it over a restart. `announcements` writes what
sources and people say into the log. `views` puts all of it together, with the meaning of each attribute
and the questions whose answers would change most. `demand_index` keeps the demand of every announcement,
`reputation` what a source is worth, and `activation` who shall sense; `sensing_commands` names the topics of MQTT for
that. `absence_watch` knows whom alerts wait for.
"""
