"""Hand-written lexicon of values that WordNet lacks: opposites, states, negations, formulas.

General knowledge, kept as short as it can be: WordNet's antonyms say most of it (`opposites`).
"""

from __future__ import annotations

from typing import Final


def _groups(rows: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Parse rows of `word, word / word, word`: sets of words that exclude each other. `;` ends a row."""
    return tuple(tuple(_phrases(side) for side in row.split("/")) for row in rows.split(";") if "/" in row)


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Words of one side mean about the same where they are states, and exclude those of the other side.
STATES: Final = _groups("""
on, switched on, turned on, powered on, true, yes, y, active, activated, enabled, energized, powered,
    activate, enable / off, switched off, turned off, powered off, false, no, n, inactive, deactivated,
    disabled, de-energized, deenergized, unpowered, deactivate, disable;
running, started, operating, in operation, working, operational, in service / stopped, halted, idle, not
    working, out of order, out of service, standing still, broken, defective;
open, opened, ajar / closed, shut, locked up;
locked / unlocked;
occupied, in use, taken, busy, engaged / vacant, unoccupied, free, empty, available, idle;
present, detected, here, home / absent, not detected, undetected, missing, away, gone;
online, connected, reachable / offline, disconnected, unreachable;
ok, okay, fine, normal, good, healthy / fault, faulty, error, failure, failed, defective, bad, abnormal,
    alarm, broken, critical;
armed / disarmed;
""")

# What is so when an attribute of such a name is true.
ATTRIBUTE_STATES: Final = {
    "motion": "occupied",
    "movement": "occupied",
    "presence": "occupied",
    "occupancy": "occupied",
    "contact": "closed",
    "connection": "connected",
    "connectivity": "connected",
    "lock": "locked",
    "opening": "open",
    "working": "running",
    "alarm": "",
    "error": "",
    "fault": "",
    "failure": "",  # things that are there or not
}

# Words and phrases that exclude each other, two or more ways; WordNet lacks these, or has them in other senses only.
OPPOSITES: Final = _groups("""
inlet, intake / outlet;
arrival, arrive, arriving, arrived / departure, depart, departing, departed;
incoming, inbound / outgoing, outbound;
entrance, entry, enter, entering / exit, leave, leaving;
boarding, board, embark / alighting, alight, disembark;
northbound, northward / southbound, southward;
eastbound, eastward / westbound, westward;
north, northern / northeast, north-east, northeastern / east, eastern / southeast, south-east, southeastern /
    south, southern / southwest, south-west, southwestern / west, western / northwest, north-west, northwestern;
upstream, uplink, upload / downstream, downlink, download;
login, logon, log in, logged in, sign in, signed in / logout, logoff, log out, logged out, sign out, signed out;
in / out;
upgrade / downgrade;
import, imported / export, exported;
rise, rising, rose, risen, increase, increasing, increased, grow, up / drop, dropping, dropped, fall, falling,
    fell, fallen, decrease, decreasing, decreased, decline, shrink, down;
accelerate, accelerating / decelerate, decelerating, brake;
charge, charging / discharge, discharging;
fill, filling / empty, emptying, drain, draining;
arm, armed / disarm, disarmed;
start, started, begin, began, starting / stop, stopped, end, ended, stopping, finish;
on, running, started, working / off, stopped, halted;
indoor, indoors, inside, interior, internal / outdoor, outdoors, outside, exterior, external;
front / rear, back;
left / right;
top, upper, above, over / bottom, lower, below, under;
day, daytime / night, nighttime, night-time;
weekday / weekend;
passed, pass, success, succeeded, successful / failed, fail, failure, unsuccessful;
clockwise / counterclockwise, anticlockwise;
wet, moist, damp / dry;
supply / return;
primary / secondary;
fixed / mobile;
hot, warm / cold, cool, chilled;
full / empty, free;
automatic / manual;
horizontal / vertical;
maximum, max / minimum, min;
check in, checked in / check out, checked out;
check-in / check-out;
sent, send, sending / received, receive, receiving;
established, acquired, gained, regained, obtained / lost, severed, interrupted;
required, needed, necessary, due, pending, awaiting, awaited, outstanding, overdue /
    completed, complete, done, finished, carried out, performed;
approved, accepted, granted / pending, awaiting, awaited / rejected, declined, refused, denied;
inserted, attached, mounted, plugged in, connected, installed / removed, detached, ejected, unplugged, uninstalled;
paused, suspended / resumed, continued;
frozen / thawed, melted;
electric, electrical / diesel / petrol, gasoline / hydrogen / steam / solar, photovoltaic / wind / nuclear / coal /
    hydroelectric / geothermal / tidal;
monday, mon / tuesday, tue / wednesday, wed / thursday, thu / friday, fri / saturday, sat / sunday, sun;
january, jan / february, feb / march / april, apr / may / june, jun / july, jul / august, aug / september, sep, sept /
    october, oct / november, nov / december, dec;
spring, springtime / summer, summertime / autumn / winter, wintertime;
input / output;
morning / afternoon / evening / night, midnight;
red / green / blue / yellow / orange / purple / white / black / brown / grey, gray / pink;
applied / released;
""")

# Words that say that what stands beside them is not so. `free` and `less` do it to the word before them.
NEGATORS: Final = frozenset(
    _words("""
no not non without never none neither nor cannot isn't aren't wasn't nobody nothing lack lacks lacking absence
shortage devoid
""")
)
NEGATED_BEFORE: Final = frozenset({"free", "less", "shortage", "absence"})
# What is tried before `to` and not done, and what a thing is `of` or `from` that it does not have.
FAILING: Final = frozenset(_words("fail fails failed failing unable refuse refuses refused refusing"))
LACKING: Final = frozenset(_words("free clear out devoid"))
# A trouble that is over: what these words say of it is that it is no more.
COMPLETED: Final = frozenset(
    _words("""
repaired fixed cleared resolved restored extinguished corrected reset remedied mended solved ended over finished
cancelled canceled rectified averted recovered
""")
)
# What is still to come: it has not been done.
AWAITING: Final = frozenset(
    _words("""
pending awaiting awaited due required requires require needed needs need requested outstanding overdue
""")
)
# What is supplied, as it is mostly called, and that the supply has ended: a cut of the mains is a power outage.
SUPPLIES: Final = {
    "power": "power",
    "electricity": "power",
    "electric": "power",
    "electrical": "power",
    "mains": "power",
    "water": "water",
    "gas": "gas",
    "network": "network",
    "internet": "internet",
}
ENDS: Final = frozenset(_words("outage cut failure interruption loss"))
LEAKING: Final = frozenset(_words("water gas"))  # their loss is a leak
# Words that say nothing about which thing is meant.
LIGHT: Final = frozenset(
    _words("""
a an the of in at to for by from with and or is are was were be been being has have had it its this that there
did does do could would can will
event status state condition detected detection triggered occurred happening currently now yet longer due nearly
number no.
nr nr. num #
""")
)
PREFIXES: Final = ("un", "in", "im", "il", "ir", "dis", "non", "de", "ab")
# They look negated and are not: their rest is a word of the same meaning, or of none that is opposed.
NOT_NEGATED: Final = frozenset(
    _words("""
inflammable inhabitable inhabited invaluable unloose unravel inner inside indoor input inlet into unit union
uniform display distance district disk dish discover discharge default detect demand delay degree depart
department design detail device devise defect define deliver deposit derive describe deck inform information
insure install increase indeed index indicate individual industry infrared initial injury instance instant image
impact import important improve impulse irrigate iron abnormal above about absolute disaster disease despite
""")
)
# What common formulas name; the name is a word or phrase of WordNet.
FORMULAS: Final = {
    "co": "carbon monoxide",
    "co2": "carbon dioxide",
    "no2": "nitrogen dioxide",
    "n2o": "nitrous oxide",
    "nox": "nitrogen oxides",
    "so2": "sulfur dioxide",
    "so3": "sulfur trioxide",
    "o2": "oxygen",
    "o3": "ozone",
    "n2": "nitrogen",
    "h2": "hydrogen",
    "h2s": "hydrogen sulfide",
    "nh3": "ammonia",
    "nh4": "ammonium",
    "ch4": "methane",
    "c2h4": "ethylene",
    "c2h6": "ethane",
    "c3h8": "propane",
    "h2o": "water",
    "h2o2": "hydrogen peroxide",
    "hcl": "hydrochloric acid",
    "cl2": "chlorine",
    "hcho": "formaldehyde",
    "ch2o": "formaldehyde",
    "c6h6": "benzene",
    "sf6": "sulfur hexafluoride",
    "hf": "hydrogen fluoride",
}
SPELLINGS: Final = {
    "sulphur": "sulfur",
    "sulphide": "sulfide",
    "tyre": "tire",
    "aluminium": "aluminum",
    "colour": "color",
    "centre": "center",
    "litre": "liter",
    "metre": "meter",
    "authorised": "authorized",
    "unauthorised": "unauthorized",
    "rm": "room",
    "bldg": "building",
    "conf": "conference",
    "plt": "platform",
    "maint": "maintenance",
    "req": "required",
    "temp": "temperature",
    "wifi": "wi-fi",
}
# What a Boolean attribute says when it is true, where its name alone would mislead: Zigbee's and Matter's `contact`
# is true when the contact is made.
TRUE_MEANS: Final = {
    "contact": "closed",
    "contact state": "closed",
    "door contact": "closed",
    "window contact": "closed",
}
NUMBER_WORDS: Final = {
    word: number
    for number, word in enumerate(
        _words("""
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
""")
    )
}
ORDINALS: Final = {
    word: number
    for number, word in enumerate(
        _words("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"), 1
    )
}
ROMAN: Final = {"ii": 2, "iii": 3, "iv": 4, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "xi": 11, "xii": 12}
