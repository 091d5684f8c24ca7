package cli

import "testing"

func TestWithoutPassword(t *testing.T) {
	for _, c := range []struct{ db, want string }{
		{".deem/deem.db", ".deem/deem.db"},
		{"postgres://anna:secret@db.example:5432/deem?sslmode=require", "postgres://anna@db.example:5432/deem?sslmode=require"},
		{"postgresql://anna@db.example/deem", "postgresql://anna@db.example/deem"},
		{"postgres://db.example/deem?user=anna&password=secret&sslpassword=secret", "postgres://db.example/deem?user=anna"},
		{"postgres://anna:sec/ret@db.example:54:32/deem", "postgres://..."},
	} {
		if got := withoutPassword(c.db); got != c.want {
			t.Errorf("withoutPassword(%q) = %q, want %q", c.db, got, c.want)
		}
	}
}

func TestRedactArg(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"--db=postgres://anna:secret@h/d", "--db=postgres://anna@h/d"},
		{"postgres://anna:secret@h/d", "postgres://anna@h/d"},
		{"--header=Authorization=env:KEY", "--header=Authorization=env:KEY"},
		{"answers=1.jsonl", "answers=1.jsonl"},
	} {
		if got := redactArg(c.arg); got != c.want {
			t.Errorf("redactArg(%q) = %q, want %q", c.arg, got, c.want)
		}
	}
}
