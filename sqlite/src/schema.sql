-- A store of conversations. What is kept is `rows`, which only grows, and the bytes
-- that stand between rows in a log; all else can be made again from it.
--
-- Ids, keys and names are text as JSON writes it, quotes included: so any of them,
-- one with half a surrogate pair too, is text that a database holds.

CREATE TABLE conversations (
    key     INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, as a name may be
    name    TEXT    NOT NULL UNIQUE,
    next    INTEGER NOT NULL,                  -- the seq that the next row will have
    version INTEGER NOT NULL,                  -- what `clock` said at its last change
    tail    BLOB    NOT NULL                   -- the log's bytes behind its last row
) STRICT;

CREATE TABLE rows (
    key          INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversations (key),
    seq          INTEGER NOT NULL,
    id           TEXT    NOT NULL,
    gap          BLOB    NOT NULL, -- the log's bytes between the row before and this
    body         TEXT    NOT NULL, -- the row's JSON, as it stands in the log
    counts       INTEGER NOT NULL, -- 1 if it counts towards a page's limit
    edge         TEXT,             -- which edge of a turn it is, if it is one
    UNIQUE (conversation, seq),
    UNIQUE (conversation, id)
) STRICT;

CREATE INDEX rows_that_count ON rows (conversation, seq) WHERE counts = 1;
CREATE INDEX rows_at_edges   ON rows (conversation, seq) WHERE edge IS NOT NULL;

CREATE TRIGGER rows_never_change BEFORE UPDATE ON rows BEGIN
    SELECT RAISE(ABORT, 'a stored row is never changed (record.append-only)');
END;

-- What a row is found by, beside its id. A key is unique in its conversation, and
-- the first row that was stored under it keeps it.
CREATE TABLE keys (
    conversation INTEGER NOT NULL REFERENCES conversations (key),
    kind         TEXT    NOT NULL, -- request, report, stream or provenance
    key          TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    PRIMARY KEY (conversation, kind, key)
) STRICT, WITHOUT ROWID;

-- The flags: which row took which out of the context. A cache of what the ranges
-- in `rows` say; set once, in the transaction that stores the taker.
CREATE TABLE flags (
    conversation INTEGER NOT NULL REFERENCES conversations (key),
    seq          INTEGER NOT NULL,
    by           INTEGER NOT NULL, -- the seq of the row that took it
    source       TEXT    NOT NULL, -- what kind of replacement that is
    PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;

-- Stretches of rows that no page separates. They do not touch each other.
CREATE TABLE units (
    conversation INTEGER NOT NULL REFERENCES conversations (key),
    first        INTEGER NOT NULL,
    last         INTEGER NOT NULL,
    PRIMARY KEY (conversation, first)
) STRICT, WITHOUT ROWID;

-- The words of each row, under the row's key.
CREATE VIRTUAL TABLE words USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
);

-- How many changes there were, of any conversation. It is never set back.
CREATE TABLE clock (changes INTEGER NOT NULL) STRICT;
INSERT INTO clock VALUES (0);
