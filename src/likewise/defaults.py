"""Defaults and limits of Likewise, each with its reason."""

from __future__ import annotations

from typing import Final

# Meaning.
MEASURE: Final = "sameness"  # the matcher's measure of relaxed parts when none is named
RELATEDNESS: Final = "combine"  # a space's own measure when none is named: opposites are related, and not the same
THRESHOLD: Final = 0.5  # a match needs at least this score (geometric mean of its relaxed parts)
PART_FLOOR: Final = 0.9  # of the threshold: what every relaxed part must reach, where it is as likely meant as not
SENSIBLE_THRESHOLD: Final = 0.25  # no explanation advises a lower one: nearly anything would match
TOP_MAPPINGS: Final = 2  # how many mappings an explanation compares: the best and its runner-up
HYBRID_M: Final = 5  # sources.md H: properties of an event that may answer one statement
MAX_ENUMERATED_MAPPINGS: Final = 10_000  # up to here the probability space P covers every mapping (sources.md T)

# Memory.
CACHE_BYTES: Final = 256 * 2**20  # relatedness and postings a matcher may keep
TERM_CACHE_BYTES: Final = 64 * 2**20  # vectors of terms a space may keep; the rest is computed again
NAME_CACHE_ENTRIES: Final = (
    16_384  # names, values and words whose reading each of a space's caches keeps: about 1 KB each
)
BROKER_CACHE_BYTES: Final = 64 * 2**20  # CACHE_BYTES of each engine of a broker's tenants, who share one machine
STORE_CACHE_BYTES: Final = 32 * 2**20  # pages that each connection to a store may keep; every thread that reads has one
THEME_CACHE_BYTES: Final = 16 * 2**20  # bases of themes a space may keep
RAPID_COPIES: Final = 20_000_000  # copies of interest vectors RAPIDMatch may hold; one takes about 20 bytes

MAX_WITHDRAWN: Final = 100_000  # events taken back that a matcher remembers, so as not to explain them as matches
MAX_ADDITIONS: Final = 2**31 - 1  # of a matcher in its life: ordinals are dealt out once and have 32 bits

# Events.
MAX_TUPLES: Final = 1_000
MAX_TERM_LENGTH: Final = 1_024  # characters of an attribute, a text value, a theme tag
MAX_TOPIC_LENGTH: Final = 65_535  # of the value of `topic`, as MQTT allows
MAX_DEPTH: Final = 64  # nesting of an event's JSON
MAX_THEMES: Final = 100
MAX_TRIPLES: Final = 10_000  # triples of one event's graph
MAX_VECTOR: Final = 1_000  # properties of an interest vector
MAX_EVENT_BYTES: Final = 4 * 2**20  # one event as JSON
MAX_DOCUMENT_BYTES: Final = 64 * 2**20  # one document of several events: RDF, a SenML pack, a CloudEvents batch

# MQTT.
MAX_DISCOVERED: Final = 20_000  # configurations of Home Assistant's discovery that a bridge remembers
MAX_SPARKPLUG_FIELDS: Final = 200_000  # of one payload of Sparkplug B, those of its metrics counted
MAX_SPARKPLUG_TEMPLATES: Final = 8  # of Sparkplug B within each other
MAX_SPARKPLUG_SOURCES: Final = 10_000  # nodes and devices whose BIRTH is remembered; the node born first goes first
MAX_SPARKPLUG_ANNOUNCED: Final = 200_000  # metrics that they announced, together
MAX_SPARKPLUG_CHARACTERS: Final = 16 * 2**20  # of the names and units of those metrics, together
BRIDGE_IN_FLIGHT: Final = (
    1_000  # messages a bridge takes before the first of them is on disk; the broker keeps the rest
)
BRIDGE_BATCH: Final = 500  # messages stored together
BRIDGE_WAITING: Final = (
    100_000  # messages of QoS 0, which no broker keeps, that wait to be stored; more are counted lost
)
BRIDGE_RETRY_SECONDS: Final = 1.0  # pause between attempts to connect, or to store what cannot be stored now
BRIDGE_SESSION: Final = "7 d"  # how long the user's broker keeps messages for a bridge that is away
MQTT_PORT: Final = 1883  # where brokers of MQTT are
MAX_PLAIN_TOPICS: Final = 10_000  # topics whose map is remembered
MQTT_SESSION: Final = "7 d"  # how long a session here may outlive its connection
MQTT_PACKET_BYTES: Final = 4 * 2**20 + 65_536  # the largest packet: an event's size, and its topic and properties
MQTT_RECEIVE_MAXIMUM: Final = 1_000  # messages of a client that are taken before the first of them is acknowledged
MQTT_IN_FLIGHT: Final = 1_000  # messages to a client that it has not acknowledged; fewer where it says so
MQTT_SUBSCRIPTIONS: Final = 10_000  # filters of one session
MQTT_FILTERS_PER_TURN: Final = 64  # of a packet; others have their turn before the next ones
MQTT_KEEP_ALIVE: Final = 0  # seconds between packets of a client at most; 0 leaves it to the client
MQTT_CONNECT_SECONDS: Final = 10.0  # from the start of a connection until its CONNECT must be there as a whole
MQTT_CONNECT_BYTES: Final = 65_536  # of a CONNECT, its will included: nobody is known yet who could be held to account
MQTT_PENDING: Final = 2_000  # connections that have not logged in; a fleet that comes back at once fits
MQTT_PENDING_BYTES: Final = 16 * 2**20  # of CONNECT packets that are not complete, of all these connections together
WEBSOCKET_BYTES: Final = 65_536  # that a WebSocket takes, its tasks included; before a login they count, too
PENDING_SHARE: Final = 4  # one address may have the fourth part of either
RECEIVE_BYTES: Final = 256 * 2**20  # of bodies that are not answered, and as many of packets that are not complete
FRAGMENT_BYTES: Final = 64  # that a fragment of a message of a WebSocket takes beside its content
RECEIVE_SHARE: Final = 2  # one tenant may have half of either
LOGIN_FREE: Final = 5  # failed logins of an address that are answered at once; the next ones wait
LOGIN_DELAY_SECONDS: Final = (0.5, 8.0)  # the first delay, and the longest of its doublings
LOGIN_FORGET_SECONDS: Final = 600.0  # without a failed login, after which an address is forgotten
LOGIN_ADDRESSES: Final = 10_000  # that are remembered; the oldest go first
LOGIN_LOG_SECONDS: Final = 60.0  # between two log lines about failed logins of one address; 1 s between any two
MQTT_ALIASES: Final = 16  # topics that a client may abbreviate
MQTT_RENDERED: Final = 512  # messages whose encoding is remembered for further recipients
MQTT_NOTE_SECONDS: Final = 0.02  # what is in flight with QoS 1 is written down so long after it was sent
MQTT_BUFFER_BYTES: Final = 256 * 1024  # unsent bytes of a connection past which it is sent no more for now
MQTT_FLUSH_BYTES: Final = 64 * 1024  # of packets that are gathered for one write
MQTT_SEND_BYTES: Final = 64 * 2**20  # unsent bytes of all connections; past it only those get more that have none
STALLED_SECONDS: Final = 60.0  # a client that takes none of the bytes that wait for it for so long is disconnected
CLOSE_SECONDS: Final = 5.0  # that a connection may take to flush its last bytes; then it is cut
MQTT_WAITING_BYTES: Final = 1 * 2**20  # of a client's packets that wait for another of its packets to be dealt with

# Annotations.
MAX_ANNOTATIONS: Final = 1_000_000  # rows of one file
MAX_RELAXED_ANNOTATIONS: Final = 10_000  # of them with a relaxed key, each of which is a subscription of its own

# The catalogue: what sources announce, and what is learnt of them.
MAX_ANNOUNCED_ATTRIBUTES: Final = 256  # of one announcement
MAX_ANNOUNCED_VALUES: Final = 256  # of one attribute
MAX_ANNOUNCEMENTS: Final = 100_000  # of one tenant
LEASE_SECONDS: Final = 600.0  # for which an announcement holds unless it says how long
MAX_LEASE_SECONDS: Final = 7 * 86_400
MAX_CORRECTIONS: Final = 100_000  # of one tenant
CATALOGUE_SOURCES: Final = 100_000  # of one tenant; further ones are counted, not kept
CATALOGUE_READINGS: Final = 1_000_000  # attributes of all its sources
CATALOGUE_ATTRIBUTES: Final = 1_000  # of one source
CATALOGUE_NAMES: Final = 50_000  # distinct names of attributes of one tenant
CATALOGUE_TEXTS: Final = 64  # texts kept of one name; further ones are counted
CATALOGUE_WAITING: Final = 20_000  # entries held for the catalogue; what is beyond it reads again from the log
CATALOGUE_SECONDS: Final = 1.0  # between two looks at what came
CATALOGUE_SAVE_SECONDS: Final = 60.0  # between two savings

# Brokers at the edge.
EDGE_INTERVAL: Final = 10.0  # seconds between two signs of life of either side
EDGE_ITEMS: Final = 500  # events of one message
EDGE_HOPS: Final = 32  # brokers that an event may come over
EDGE_BYTES: Final = 256 * 2**10  # of such a message, if it is more than one event
EDGE_MESSAGE_BYTES: Final = 4 * 2**20  # of any message
EDGE_DEMAND_SECONDS: Final = 0.25  # between two looks at whether something else is asked for
EDGE_DEMAND_LASTS: Final = 7 * 86_400  # seconds that a demand counts without another word from above
EDGE_WINDOW: Final = 1_000  # deliveries to an edge before the first is acknowledged
EDGE_TEXTS: Final = 1_000  # texts kept of one name of one source; what has others is always sent on
EDGE_RETRY_SECONDS: Final = 1.0  # pause before an address is dialled again, at most
OUTBOX_BYTES: Final = 64 * 2**20  # that may wait at an edge
OUTBOX_KEEP: Final = "7 d"  # how long
OUTBOX_POLICY: Final = "drop-oldest"

# Subscriptions.
MAX_SUBSCRIPTION_LENGTH: Final = 65_536  # characters of one subscription's text
MAX_SUBSCRIPTION_BYTES: Final = 4 * 2**20  # one subscription as JSON
MAX_CONJUNCTIONS: Final = 64  # what `or` and `not` may expand to
MAX_PREDICATES: Final = 1_000  # predicates of one condition
MAX_BEST: Final = 1_000  # `best m`: properties of an event that may answer one statement
MAX_NESTING: Final = 64  # parentheses inside a condition
MAX_IN_VALUES: Final = 1_000  # values of one `in (...)`
MAX_K: Final = 100_000  # `top k`
MAX_COLUMNS: Final = 100  # of `select`
MAX_KEY_ATTRIBUTES: Final = 8  # of `per`
MAX_WINDOW_EVENTS: Final = 10_000_000  # `within n events`

# Windows.
LATENESS: Final = 0  # µs an event may be older than the newest one seen and still enter windows

# Alerts.
ALERT_FORGET: Final = 30 * 86_400 * 1_000_000  # µs after which a key of which nothing came is forgotten
ALERT_STALE: Final = 24 * 3_600 * 1_000_000  # µs of silence after which an active source blocks no other's new alarm
CLOCK_BEHIND: Final = 24 * 3_600 * 1_000_000  # µs behind its source's newest from which on an event's clock is doubted
UPLOAD_SPAN: Final = 60 * 1_000_000  # µs for which it is waited whether such an event is one of an upload
MAX_DOUBTED_EVENTS: Final = (
    256  # of a key that wait so; more are trusted: a fast upload shows itself after 5 s of its times
)
UPLOAD_SLACK: Final = 5 * 1_000_000  # µs by which own times of live events may lie further apart than their arrivals
MAX_RETRACTABLE_EVENTS: Final = 16  # newest events of a key that can be withdrawn from a run or a silence
MAX_SUPPRESSED_EVENTS: Final = 1_000  # newest that `at most every` counts and that can still be withdrawn
MAX_DIGEST_ITEMS: Final = 100  # newest sayings that a digest tells one by one
MAX_DIGEST_KEYS: Final = 1_000  # keys whose counts a digest tells

# The broker.
HOST: Final = "127.0.0.1"  # beyond loopback only with tokens
PORT: Final = 8787
DASHBOARD_PORT: Final = 8788  # beside the broker
TENANT: Final = "default"  # whose everything is while there are no tokens
QUEUE_LIMIT: Final = 100_000  # deliveries a subscriber's queue holds unless it asks for another number
MAX_QUEUE_LIMIT: Final = 10_000_000
BLOCK_SECONDS: Final = 30.0  # how long a publisher waits for a queue that blocks before it is told to come again
MATCH_ENTRIES: Final = 1_000  # entries of the log matched, and their deliveries stored, in one go, at most
MATCHES_TOGETHER: Final = 1_000_000  # matches held at once while events are matched: a few tens of megabytes
ROUND_SECONDS: Final = 0.02  # processor time of matching after which what it led to is stored
RELAXED_EVENTS_PER_CHECK: Final = (
    2  # events between two looks at the time, where words are asked for: new ones take 2 ms a word
)
QUANTUM_SECONDS: Final = 0.005  # of that, what a tenant is owed more at each visit
CPU_GATE_TIMEOUT: Final = 0.01  # seconds that long work waits for other long work before it goes on beside it
SLICE_SECONDS: Final = 0.002  # of other work that takes long, as a question's, between two looks whether others wait
BACKLOG_ENTRIES: Final = 10_000  # of a tenant that wait in memory to be matched; the rest waits in the log
MAX_BACKLOG: Final = 200_000  # entries of a tenant that may wait to be matched before its publishers are told 429
MAX_BACKLOG_SECONDS: Final = 120.0  # ... or what takes so long to match, at the pace of late: new words take long
MAX_RETRY_SECONDS: Final = 30.0  # the longest that a publisher is told to wait
MAX_QUESTIONS: Final = 2  # of a tenant that are answered at once
MAX_QUESTIONS_WAITING: Final = 64  # of a tenant, beside these
COMMIT_ENTRIES: Final = 10_000  # entries that may share one commit
SHARED_ENTRIES: Final = 200  # ... of several tenants: where there are more, each has a commit of its own
SEND_WINDOW: Final = 1_000  # deliveries sent to a stream and not yet acknowledged before it waits
SEND_PAGE: Final = 128  # deliveries read at once for one stream
SEND_PAGE_BYTES: Final = 256 * 1024  # ... and of how many bytes, the last one's aside
INITIAL_EVENTS: Final = 100_000  # newest valid events that a new subscription is matched against
STORED_EVENTS: Final = 100_000  # newest stored events that a dry run or a backtest looks at, at most
# µs for which an event's id is known after its arrival, also when its validity ends sooner.
DEDUPLICATION_SPAN: Final = 3_600 * 1_000_000
EXPIRED_RETENTION: Final = (
    200  # newest ended subscriptions of a tenant that stay known, so that a trace can say what was asked
)
KEEP: Final = "7 days"  # how long events are kept unless they end sooner: a disk that fills for ever stops everybody
SWEEP_SECONDS: Final = 5.0  # pause between removals of what is over
TICK_SECONDS: Final = 1.0  # pause between moves of time for windows that follow the arrival of events
CHECKPOINT_ENTRIES: Final = 50_000  # entries of the log after which windows are saved again
SAVE_SECONDS: Final = 60.0  # ... or, where something is over before that, so long after they were last looked at
FINISHING_SECONDS: Final = 3.0  # a stop matches what was handed in for so long; the next start does the rest
BATCH_STOP_SECONDS: Final = 5.0  # ... and then waits so long for the stretch under way, which a compiler may hold up
SAVING_SECONDS: Final = 30.0  # ... and so long for windows that are being saved
IDLE_ENTRIES: Final = 10_000  # of others after which a tenant's own position in the log is written down again
MAX_BODY_BYTES: Final = 64 * 2**20  # one HTTP request
MAX_BATCH_EVENTS: Final = 10_000  # events of one request
MAX_HEADER_BYTES: Final = 64 * 1024  # the lines of a request before its body; browsers and proxies send far less
MAX_CONNECTIONS: Final = 10_000  # held at once, fewer where the process may open few files
HEADER_SECONDS: Final = 10.0  # within which these lines must come
BODY_PAUSE_SECONDS: Final = 30.0  # the longest silence within a body
BODY_SECONDS: Final = 300.0  # within which a body must have come: 64 MB at 220 kB/s
OFF_LOOP_BYTES: Final = 16 * 1024  # larger bodies are read beside the loop: they take milliseconds, and others wait
OFF_LOOP_EVENTS: Final = 200  # more of a request become entries beside the loop, for the same reason
STOP_SECONDS: Final = 3.0  # how long requests under way may take when the broker stops, before they are told 503
LAST_SECONDS: Final = 5  # after which a server that stops closes what is still open
MAX_SUBSCRIPTIONS: Final = 1_000_000  # of one tenant
MAX_SUBSCRIBERS: Final = 100_000  # of one tenant
MAX_RETAINED_TOPICS: Final = 100_000  # of one tenant
MAX_RETAINED_BYTES: Final = 256 * 2**20  # of the payloads, topics and properties of its retained messages
MAX_DEAD_LETTERS: Final = 10_000  # of one tenant; the oldest go first
MAX_DEAD_LETTER_BYTES: Final = 65_536  # what is kept of input that could not be read
TARGET_TIMEOUT_SECONDS: Final = 10.0  # for one attempt of a target, connecting and answering included
TARGET_DEADLINE_SECONDS: Final = 86_400.0  # a match is tried for so long, then it is a dead letter
TARGET_RETRY_SECONDS: Final = (1.0, 60.0)  # the first pause between attempts, and the longest of its doublings
TARGET_RETRY_AFTER_SECONDS: Final = 3_600.0  # the longest pause that a receiver's Retry-After is followed for
TARGET_PAGE: Final = 16  # matches that a target reads ahead
TARGET_NOTE_SECONDS: Final = 0.05  # how far a target has come is written so long after it came there
MAX_TARGETS: Final = 1_000  # of one tenant
MAX_TARGETS_EACH: Final = 10  # of one subscription
MAX_BECAUSE: Final = 10  # subscriptions of one delivery that are explained

# Workers that split and merge (docs/guides/workers.md)
WORKER_SPLIT_US: Final = 500.0  # µs of the processor an event, over the last ones: above it the policy `paper` splits
WORKER_MERGE_US: Final = 50.0  # the same: below it `paper` merges
WORKER_LAST: Final = 100  # events that `paper` looks at, the N of the source
WORKER_SPLIT_BUSY: Final = 0.75  # share of time a worker was busy: above it `utilisation` splits
WORKER_MERGE_BUSY: Final = 0.25  # the same: below it `utilisation` merges; far below, so that it does not go to and fro
WORKER_SPAN: Final = 10.0  # seconds over which that share is taken
WORKER_PAUSE: Final = 10.0  # seconds between two changes of how many there are
