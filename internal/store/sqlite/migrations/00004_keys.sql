-- Finds texts, items and replies by their keys without an index that every row of
-- every commit changes another page of.
--
-- The keys are hashes, as good as random. In a unique index each new one lands on a
-- page of its own, and each commit writes all of those pages. So new rows are found by
-- what a process keeps in memory, and go into tables of keys many at a time and sorted,
-- where neighbours share pages. "indexed" says up to which number they are there. That
-- no key is there twice is for the one who writes to see to, who has the lock.
--
-- The indexes over labels and categories go too: the records of a run lie together, and
-- reading through them is fast enough for a page that somebody looks at.

-- Tables that others refer to can only be replaced while nobody looks, and that can
-- only be said outside of a transaction. The migration may be made twice.
-- +goose NO TRANSACTION
-- +goose Up
PRAGMA foreign_keys = OFF;
BEGIN IMMEDIATE;

DROP INDEX IF EXISTS records_label;
DROP INDEX IF EXISTS records_category;

DROP TABLE IF EXISTS indexed;
CREATE TABLE indexed (
	texts   INTEGER NOT NULL,
	items   INTEGER NOT NULL,
	replies INTEGER NOT NULL
) STRICT;
INSERT INTO indexed SELECT
	(SELECT coalesce(max(n), 0) FROM texts),
	(SELECT coalesce(max(n), 0) FROM items),
	(SELECT coalesce(max(n), 0) FROM replies);

-- The first bytes of the keys, with the rows that have them.
DROP TABLE IF EXISTS text_keys;
CREATE TABLE text_keys (short BLOB NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (short, n)) STRICT, WITHOUT ROWID;
INSERT INTO text_keys SELECT substr(hash, 1, 6), n FROM texts ORDER BY 1, 2;

DROP TABLE IF EXISTS item_keys;
CREATE TABLE item_keys (short BLOB NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (short, n)) STRICT, WITHOUT ROWID;
INSERT INTO item_keys SELECT substr(hash, 1, 6), n FROM items ORDER BY 1, 2;

DROP TABLE IF EXISTS reply_keys;
CREATE TABLE reply_keys (short TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (short, n)) STRICT, WITHOUT ROWID;
INSERT INTO reply_keys SELECT substr(key, 1, 12), n FROM replies ORDER BY 1, 2;

DROP TABLE IF EXISTS texts_4;
CREATE TABLE texts_4 (
	n    INTEGER PRIMARY KEY,
	hash BLOB NOT NULL, -- SHA-256 of body
	body TEXT NOT NULL
) STRICT;
INSERT INTO texts_4 SELECT n, hash, body FROM texts ORDER BY n;
DROP TABLE texts;
ALTER TABLE texts_4 RENAME TO texts;

DROP TABLE IF EXISTS items_4;
CREATE TABLE items_4 (
	n     INTEGER PRIMARY KEY,
	hash  BLOB NOT NULL, -- SHA-256 of body and of the hashes of the texts
	body  TEXT NOT NULL, -- canonical JSON, with "" in place of long texts
	texts TEXT           -- JSON: which texts go where, as {"fields/dialogue":12}
) STRICT;
INSERT INTO items_4 SELECT n, hash, body, texts FROM items ORDER BY n;
DROP TABLE items;
ALTER TABLE items_4 RENAME TO items;

DROP TABLE IF EXISTS replies_4;
CREATE TABLE replies_4 (
	n           INTEGER PRIMARY KEY,
	key         TEXT    NOT NULL,
	body        TEXT    NOT NULL, -- JSON
	latency     INTEGER NOT NULL,
	attempts    INTEGER NOT NULL,
	cost_micros INTEGER NOT NULL,
	unpriced    INTEGER NOT NULL
) STRICT;
INSERT INTO replies_4 SELECT n, key, body, latency, attempts, cost_micros, unpriced FROM replies ORDER BY n;
DROP TABLE replies;
ALTER TABLE replies_4 RENAME TO replies;

COMMIT;
