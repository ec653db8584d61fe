"""The properties of MQTT 5 (section 2.2.2.2), all in one struct; a packet of MQTT 3.1.1 has none."""

from __future__ import annotations

from typing import Final

import msgspec


class Properties(msgspec.Struct, frozen=True, gc=False, repr_omit_defaults=True):
    """The properties of a packet; None, () or '' where one is absent.

    >>> Properties(content_type="application/json", user=(("id", "e1"),))
    Properties(content_type='application/json', user=(('id', 'e1'),))
    """

    payload_format: int | None = None  # 0 bytes, 1 UTF-8
    message_expiry: int | None = None  # seconds
    content_type: str | None = None
    response_topic: str | None = None
    correlation_data: bytes | None = None
    subscription_identifiers: tuple[int, ...] = ()
    session_expiry: int | None = None  # seconds; 2**32 - 1 is for ever
    assigned_client_id: str | None = None
    server_keep_alive: int | None = None  # seconds
    authentication_method: str | None = None
    authentication_data: bytes | None = None
    request_problem_information: int | None = None
    will_delay: int | None = None  # seconds
    request_response_information: int | None = None
    response_information: str | None = None
    server_reference: str | None = None
    reason_string: str | None = None
    receive_maximum: int | None = None
    topic_alias_maximum: int | None = None
    topic_alias: int | None = None
    maximum_qos: int | None = None
    retain_available: int | None = None
    user: tuple[tuple[str, str], ...] = ()
    maximum_packet_size: int | None = None
    wildcards_available: int | None = None
    subscription_identifiers_available: int | None = None
    shared_available: int | None = None


NO_PROPERTIES: Final = Properties()
