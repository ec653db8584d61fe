"""Define every request, response and frame that crosses a process, each type once.

The broker's connectors write and read these, clients and the dashboard read and write the same. Requests refuse
fields they do not know, so that nothing asked for is dropped in silence; answers pass over them, so that an older
client understands a newer broker. A sequence number is called *sequence* everywhere, an end of validity *expires*.

- `events`: what publishers are told
- `deliveries`: what subscribers get, and how they settle it
- `subscribers`, `subscriptions`: who listens, and for what
- `sinks`: where matches go out by themselves
- `queries`: dry runs, explanations, judgements and what they answer
- `semantics`: what words are taken to mean
- `live_views`: what goes on at a tenant; `history`: what was
- `edge_frames`: what brokers at the edge and above say to each other
- `operations`: tokens, dead letters, figures, problems

Events, subscriptions, matches and explanations themselves stand in `likewise.formats.json`.
"""
