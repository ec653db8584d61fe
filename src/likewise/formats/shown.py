"""Where these types were before `likewise.formats.wire`."""

from __future__ import annotations

from likewise.formats.wire.deliveries import Cause as Cause
from likewise.formats.wire.subscribers import Policy as Policy
from likewise.formats.wire.subscribers import SubscriberShown as SubscriberShown
from likewise.formats.wire.watching import MetSubscription as MetSubscription
from likewise.formats.wire.watching import Place as Place
from likewise.formats.wire.watching import SeenMatch as SeenMatch
from likewise.formats.wire.watching import Stated as Stated
