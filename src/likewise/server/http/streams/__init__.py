"""Streams: deliveries pushed to subscribers, and events published one after the other."""
