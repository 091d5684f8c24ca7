-- Gives every row that a printed number depends on a hash of its columns, which is checked
-- when the row is read: SQLite does not notice when a byte within a value changes.

-- +goose Up
ALTER TABLE runs ADD COLUMN sum BLOB;
UPDATE runs SET sum = deem_seal(n, CAST(id AS BLOB), CAST(key AS BLOB), created, CAST(judge_name AS BLOB), CAST(judge_hash AS BLOB),
	CAST(judge_identity AS BLOB), judge_rule, CAST(model AS BLOB), CAST(endpoint AS BLOB), CAST(dataset_names AS BLOB),
	CAST(dataset_hash AS BLOB), dataset_items, trials, CAST(settings AS BLOB));

ALTER TABLE replies ADD COLUMN sum BLOB;
UPDATE replies SET sum = deem_seal(n, CAST(key AS BLOB), CAST(body AS BLOB), latency, attempts, cost_micros, unpriced);

-- The seal of a record is followed by the first half of the hash of its item.
ALTER TABLE records ADD COLUMN sum BLOB;
UPDATE records SET sum = unhex(hex(deem_seal(n, run, CAST(item_id AS BLOB), trial, item, position, CAST(category AS BLOB),
	CAST(cluster AS BLOB), weight, CAST(judge AS BLOB), CAST(label AS BLOB), score, pass, confidence, CAST(reason AS BLOB),
	CAST(aspects AS BLOB), CAST(kind AS BLOB), CAST(detail AS BLOB), CAST(calls AS BLOB), i.half)) || hex(i.half))
	FROM (SELECT n AS number, substr(hash, 1, 16) AS half FROM items) i WHERE i.number = records.item;

ALTER TABLE labels ADD COLUMN sum BLOB;
UPDATE labels SET sum = deem_seal(CAST(item AS BLOB), CAST(item_id AS BLOB), CAST(dataset AS BLOB), CAST(annotator AS BLOB),
	yes, CAST(label AS BLOB), score, CAST(note AS BLOB), labelled);
