"""Commands that speak with a broker: publish, subscribe, list what it holds, and name brokers (contexts)."""
