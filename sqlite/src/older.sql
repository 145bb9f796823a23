-- The older shape: a compaction moved the rows that it took to a side table, and
-- every lookup by their keys missed them. Kept here for those who still have it.

CREATE TABLE headers (
    conversation TEXT PRIMARY KEY,
    header       TEXT NOT NULL
);
CREATE TABLE messages (
    conversation TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    body         TEXT    NOT NULL
);
CREATE TABLE archived_messages (
    conversation TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    body         TEXT    NOT NULL
);
