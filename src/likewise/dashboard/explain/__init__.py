"""Why a delivery was made, or was not: the `dialog`, an event against all subscriptions, and what is behind a score."""
