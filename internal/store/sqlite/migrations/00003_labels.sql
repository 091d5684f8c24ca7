-- What people said of items. A label belongs to no run: every judge that looks at the
-- same item can be set beside it.

-- +goose Up

CREATE TABLE labels (
	n         INTEGER PRIMARY KEY,
	item      TEXT    NOT NULL, -- hash of the item's canonical JSON
	item_id   TEXT    NOT NULL,
	dataset   TEXT    NOT NULL, -- hash of the dataset in which it was labelled
	annotator TEXT    NOT NULL,
	yes       INTEGER NOT NULL CHECK (yes IN (0, 1)),
	label     TEXT    NOT NULL,
	score     REAL    NOT NULL CHECK (score BETWEEN 0 AND 1),
	note      TEXT    NOT NULL,
	labelled  INTEGER           -- nanoseconds since 1970, NULL when nobody knows
) STRICT;

CREATE UNIQUE INDEX labels_item ON labels (item, annotator);
CREATE INDEX labels_id ON labels (item_id, item, annotator);
CREATE INDEX labels_dataset ON labels (dataset, item_id);
