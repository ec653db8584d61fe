"""`/me`, the page of one subscriber, made for a phone: `page` serves it, `updates` answers what it asks for."""
