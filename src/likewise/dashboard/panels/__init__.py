"""The panels of the tabs that are one file each: live, subscriptions, edges, targets, vocabulary, health."""
