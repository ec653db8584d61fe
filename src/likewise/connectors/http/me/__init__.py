"""`/me`, the page of one subscriber, made for a phone: `page` serves it, `news` answers what it asks for."""
