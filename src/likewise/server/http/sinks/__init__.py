"""What goes out by itself, as it is set over HTTP: `targets` of subscriptions."""
