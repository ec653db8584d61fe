"""`likewise.connect`: the client of a broker by its address."""

from __future__ import annotations

from typing import Any, Literal, overload

from likewise.client.asynchronous import AsyncPublisher, AsyncSubscriber
from likewise.client.endpoint import ADDRESS
from likewise.client.synchronous import Publisher, Subscriber


@overload
def connect(
    address: str = ADDRESS, *, subscriber: None = None, asynchronous: Literal[False] = False, **options: Any
) -> Publisher: ...
@overload
def connect(
    address: str = ADDRESS, *, subscriber: str, asynchronous: Literal[False] = False, **options: Any
) -> Subscriber: ...
@overload
def connect(
    address: str = ADDRESS, *, subscriber: None = None, asynchronous: Literal[True], **options: Any
) -> AsyncPublisher: ...
@overload
def connect(
    address: str = ADDRESS, *, subscriber: str, asynchronous: Literal[True], **options: Any
) -> AsyncSubscriber: ...
def connect(
    address: str = ADDRESS, *, subscriber: str | None = None, asynchronous: bool = False, **options: Any
) -> Publisher | Subscriber | AsyncPublisher | AsyncSubscriber:
    """Return a client of a broker: a publisher, or a subscriber if its name is given.

    The connection opens with the first call; a broken one is opened again.

    Args:
        address: Address of the broker.
        subscriber: Name of the subscriber, whose queue the broker keeps. Default: a client that publishes.
        asynchronous: Whether to return the client for asyncio.
        options: Other parameters of `likewise.client.Publisher` or `likewise.client.Subscriber`, such as `token`.

    >>> connect("http://127.0.0.1:8787", subscriber="ann").id
    'ann'
    """
    if subscriber is None:
        return AsyncPublisher(address, **options) if asynchronous else Publisher(address, **options)
    if asynchronous:
        return AsyncSubscriber(subscriber, address, **options)
    return Subscriber(subscriber, address, **options)
