-- Notes about a run, and when it was deleted.
ALTER TABLE runs ADD COLUMN about TEXT; -- JSON: name, tags and note
ALTER TABLE runs ADD COLUMN deleted INTEGER;
