CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL, guard INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tenants (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, windows_from INTEGER,
    last_delivery INTEGER NOT NULL DEFAULT 0, guard INTEGER NOT NULL DEFAULT -1, checksum INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE log (
    position INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, kind INTEGER NOT NULL, source TEXT NOT NULL,
    id TEXT NOT NULL, arrival INTEGER NOT NULL, ends INTEGER, withdrawn INTEGER NOT NULL DEFAULT 0,
    checksum INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE UNIQUE INDEX log_identity ON log (tenant, id, source) WHERE kind = 0;
CREATE INDEX log_ends ON log (ends) WHERE kind = 0 AND ends IS NOT NULL;
CREATE INDEX log_withdrawn ON log (tenant, position) WHERE withdrawn = 1;
CREATE INDEX log_commands ON log (position) WHERE kind = 1;
CREATE TABLE followers (
    follower TEXT NOT NULL, tenant INTEGER NOT NULL, position INTEGER NOT NULL, guard INTEGER NOT NULL,
    checksum INTEGER NOT NULL, PRIMARY KEY (follower, tenant)
) WITHOUT ROWID;
CREATE TABLE subscribers (
    number INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, id TEXT NOT NULL, policy TEXT NOT NULL,
    queue_limit INTEGER NOT NULL, acknowledged INTEGER NOT NULL DEFAULT 0, dropped INTEGER NOT NULL DEFAULT 0,
    guard INTEGER NOT NULL, checksum INTEGER NOT NULL, UNIQUE (tenant, id)
);
CREATE TABLE subscriptions (
    number INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, subscriber INTEGER NOT NULL, id TEXT NOT NULL,
    added INTEGER NOT NULL, ended INTEGER, checksum INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE TABLE deliveries (
    tenant INTEGER NOT NULL, number INTEGER NOT NULL, event INTEGER NOT NULL, cause INTEGER NOT NULL,
    checksum INTEGER NOT NULL, recipients BLOB NOT NULL, matched BLOB NOT NULL, scores BLOB NOT NULL,
    PRIMARY KEY (tenant, number)
) WITHOUT ROWID;
CREATE INDEX deliveries_event ON deliveries (event);
CREATE TABLE judgements (
    position INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE TABLE targets (
    number INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, subscriber INTEGER NOT NULL,
    subscription TEXT NOT NULL, id TEXT NOT NULL, acknowledged INTEGER NOT NULL, succeeded INTEGER NOT NULL,
    guard INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (tenant, subscriber, subscription, id)
);
CREATE TABLE catalogue (
    tenant INTEGER NOT NULL, what TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, checksum INTEGER NOT NULL,
    body BLOB NOT NULL, PRIMARY KEY (tenant, what, name)
) WITHOUT ROWID;
CREATE TABLE dead_letters (
    number INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, at INTEGER NOT NULL, reason TEXT NOT NULL,
    detail TEXT NOT NULL, subscriber INTEGER, event INTEGER, matched BLOB NOT NULL, body BLOB NOT NULL,
    checksum INTEGER NOT NULL, media_type TEXT NOT NULL DEFAULT ''
);
CREATE INDEX dead_letters_tenant ON dead_letters (tenant, number);
CREATE TABLE tokens (
    digest TEXT PRIMARY KEY, name TEXT NOT NULL, tenant TEXT NOT NULL, scopes TEXT NOT NULL, made INTEGER NOT NULL,
    checksum INTEGER NOT NULL, expires INTEGER
) WITHOUT ROWID;
CREATE TABLE messages (
    position INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE TABLE retained (
    tenant INTEGER NOT NULL, topic TEXT NOT NULL, position INTEGER NOT NULL, ends INTEGER, checksum INTEGER NOT NULL,
    PRIMARY KEY (tenant, topic)
) WITHOUT ROWID;
CREATE INDEX retained_position ON retained (position);
CREATE TABLE topics (
    number INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, subscriber INTEGER NOT NULL, filter TEXT NOT NULL,
    qos INTEGER NOT NULL, no_local INTEGER NOT NULL, checksum INTEGER NOT NULL
);
CREATE TABLE sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, client TEXT NOT NULL, ends INTEGER,
    checksum INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (tenant, client)
);
CREATE TABLE in_flight (
    subscriber INTEGER NOT NULL, sequence INTEGER NOT NULL, part INTEGER NOT NULL, tenant INTEGER NOT NULL,
    session INTEGER NOT NULL, packet INTEGER NOT NULL, state INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (subscriber, sequence, part)
) WITHOUT ROWID;
CREATE INDEX in_flight_session ON in_flight (session);
CREATE TABLE received (
    session INTEGER NOT NULL, packet INTEGER NOT NULL, tenant INTEGER NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (session, packet)
) WITHOUT ROWID;
CREATE TABLE hops (
    position INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE TABLE edges (
    tenant INTEGER NOT NULL, id TEXT NOT NULL, epoch TEXT NOT NULL, sequence INTEGER NOT NULL, guard INTEGER NOT NULL,
    checksum INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE TABLE outbox (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, tenant INTEGER NOT NULL, position INTEGER NOT NULL UNIQUE,
    bytes INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL
);
CREATE TABLE uplink (
    tenant INTEGER NOT NULL, name TEXT NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
INSERT INTO state VALUES ('commit', 0, -1), ('position', 0, -1), ('arrival', 0, -1), ('naming', 2, -3);
