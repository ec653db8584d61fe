"""What is known about sources, on disk: `rows` keeps what they announced, what people corrected, whom they keep and
names of before; `naming` says how sources of MQTT are named, and from which topics."""
