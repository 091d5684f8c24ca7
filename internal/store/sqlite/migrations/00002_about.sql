-- What people note about a run, and when they deleted it.
ALTER TABLE runs ADD COLUMN about TEXT; -- JSON: name, tags and note
ALTER TABLE runs ADD COLUMN deleted INTEGER;
