"""The demo's subscriptions: what three desks of the city's administration want to know, in plain words."""

from __future__ import annotations

from typing import Final, NamedTuple


class DemoSubscription(NamedTuple):
    """A subscription of the demo: whose it is, its id, its text, and what it asks for in a sentence."""

    subscriber: str
    id: str
    text: str
    asks: str


DEMO_SUBSCRIPTIONS: Final = (
    DemoSubscription("health-desk", "heat", "{temperature~ > 27 degC} threshold 0.6", "Where is it hot?"),
    DemoSubscription("health-desk", "bad-air", "{nitrogen dioxide~ > 40 ug/m3} threshold 0.6", "Where is the air bad?"),
    DemoSubscription("health-desk", "loud", "{noise~ > 70 dB}", "Where is it loud?"),
    DemoSubscription(
        "traffic-desk", "jam", "{traffic} {vehicle speed~ < 15 km/h} threshold 0.8", "Where do cars crawl?"
    ),
    DemoSubscription("traffic-desk", "car-parks", "{parking} {free spaces~ < 20}", "Which car parks are nearly full?"),
    DemoSubscription("works-desk", "bins", "{fill level~ > 80 %} threshold 0.6", "Which bins need emptying?"),
    DemoSubscription("works-desk", "dark", "{lighting} {condition~ = broken~}", "Which street lamps are broken?"),
    DemoSubscription("works-desk", "power", "{electric power~ > 2.5 kW}", "Who draws much power?"),
    DemoSubscription("works-desk", "doors", "{building} {door~ = open~}", "Which doors stand open?"),
    DemoSubscription("works-desk", "pumps", "{water} {pump state~ = pump stopped~}", "Which pumps have stopped?"),
    DemoSubscription(
        "traffic-desk", "platform-3", "{railway} {platform~ = platform 3~}", "What happens at platform 3?"
    ),
    DemoSubscription(
        "health-desk", "worst-air", "{NO2 exists} top 3 within 2 min by value(NO2) highest", "The worst air posts"
    ),
)
