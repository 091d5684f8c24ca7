package halumem

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"deem"
	"deem/internal/benchmark"
	"deem/internal/words"
)

// Options says what to read. Data are the results files written by a system's adapter, for
// example results/mem0-1/mem0_eval_results.jsonl: one user per line, with sessions, memory
// points, extracted memories, questions and responses. Responses must be empty: the results
// file contains them. RequireAll makes a question without a response an error in the file
// instead of an unjudged item. Reading determines how parts become items, because routing
// depends on it; "" means [Upstream]. With the judge of a vendor, only the items of the stage
// "qa" are read.
type Options = benchmark.Options

// A Set contains the items of checked results files, session by session. The files are read
// again on each iteration, with one user in memory at a time. Notes says where the files
// deviate from the published format, and what upstream does then.
type Set struct {
	benchmark.Reread
	in        *benchmark.Reader
	reading   string
	questions bool
}

// Open reads and checks everything before any call is made, one user at a time. If lines
// are invalid, the error is a [*deem.Problems] with their locations: upstream would stop at
// each of them, at some only after all calls were paid for.
func Open(ctx context.Context, o Options) (benchmark.Set, error) {
	questions, err := onlyQuestions(o.Judges)
	if err != nil {
		return nil, err
	}
	reading, err := checkReading(o.Reading)
	if err != nil {
		return nil, err
	}
	if err := benchmark.NoResponses(Name, o.Responses); err != nil {
		return nil, err
	}
	in, err := benchmark.NewReader(ctx, benchmark.Input{Names: o.Data, Stdin: o.Stdin, Whole: isUser}, o.Data, o.Limit)
	if err != nil {
		return nil, err
	}
	s := &Set{in: in, reading: reading, questions: questions}
	if err := s.survey(ctx, o.RequireAll); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return s, nil
}

// isUser reports whether an object with these keys is a user rather than a list of users.
func isUser(keys []string) bool { return slices.Contains(keys, "sessions") }

// survey reads and checks all users, and computes the hash of their items.
func (s *Set) survey(ctx context.Context, requireAll bool) error {
	ps := &deem.Problems{}
	users := map[string]string{}
	r := &router{reading: s.reading, questions: s.questions}
	var last error
	checked := func(yield func(deem.Item, error) bool) {
		for row, err := range s.in.Rows(ctx) {
			u, err := check(row, err, users)
			if p, ok := errors.AsType[deem.Problem](err); ok {
				ps.Add(p)
				continue
			}
			if err != nil {
				last = err
				return
			}
			for _, it := range r.items(u) {
				if requireAll && it.Fields[fieldMissing] == "system_response" {
					ps.Add(deem.Problem{File: row.File, Line: row.Line, Message: fmt.Sprintf("%s has no system_response", it.ID)})
				}
				if !yield(it, nil) {
					return
				}
			}
		}
	}
	var err error
	s.Reread, err = s.in.Settle(checked, s.read)
	switch {
	case last != nil:
		return last
	case err != nil:
		return err
	case ps.Total > 0:
		return deem.WithHint(ps, "the lines must be as the published adapters write them; docs/benchmarks/halumem.md has an example")
	case len(users) == 0:
		return fmt.Errorf("read %s: there are no users in it", s.in)
	case s.Len() == 0:
		return fmt.Errorf("read %s: its users have no memory points, memories or questions", s.in)
	}
	s.in.Note(s.in.Files.Notes()...)
	s.in.Note(r.odd.notes()...)
	return nil
}

// check reads a user from a row and checks that the id is unique. An error that is a
// problem concerns only this line: upstream would stop there.
func check(row *benchmark.Row, err error, users map[string]string) (*user, error) {
	if err != nil {
		return nil, err
	}
	if row.Get("uuid").Blank() {
		return nil, benchmark.At(row, "the user has no uuid")
	}
	u := &user{uuid: row.Get("uuid").Str()}
	sessions, ok := row.Get("sessions").List()
	if !ok {
		return nil, benchmark.At(row, "user %s has no list of sessions", u.uuid)
	}
	for i, v := range sessions {
		s, err := readSession(v)
		if err != nil {
			return nil, benchmark.At(row, "user %s, session %d: %v", u.uuid, i, err)
		}
		u.sessions = append(u.sessions, s)
	}
	if first, ok := users[u.uuid]; ok {
		return nil, benchmark.At(row,
			"user %s is at %s already; the published adapters append to the file when they are run again, so delete one of the two lines", u.uuid, first)
	}
	users[u.uuid] = row.File + ":" + strconv.Itoa(row.Line)
	return u, nil
}

// read yields the items in file order. Iteration ends after an error.
func (s *Set) read(ctx context.Context) iter.Seq2[deem.Item, error] {
	return func(yield func(deem.Item, error) bool) {
		r := &router{reading: s.reading, questions: s.questions}
		users := map[string]string{}
		for row, err := range s.in.Rows(ctx) {
			u, err := check(row, err, users)
			if err != nil {
				yield(deem.Item{}, benchmark.Changed(err))
				return
			}
			for _, it := range r.items(u) {
				if !yield(it, nil) {
					return
				}
			}
		}
	}
}

// noteNoExtraction prevents a zero from being read as a result.
const noteNoExtraction = "no session has an extracted memory: if the system cannot list its memories, " +
	"the numbers of extraction say nothing about it, and HaluMem's own table leaves them out"

// notes describes the oddities, each with what upstream does.
func (o oddities) notes() []string {
	var list []string
	add := func(n int, noun, message string) {
		if n > 0 {
			list = append(list, words.Count(n, noun)+" "+message)
		}
	}
	add(o.skipped, "session", "made up as filler left out, as upstream does")
	add(o.moved, "update", "for which nothing was retrieved judged for integrity, as upstream does; --reading fixed counts them as omitted updates")
	add(o.kept, "update", "for which nothing was retrieved counted as omitted without asking; upstream judges them for integrity")
	add(o.unasked, "update", "without memories_from_system judged for integrity, because the system was never asked about them")
	add(o.notStrings, "memory point", `with an is_update that is neither "True" nor "False", which upstream takes for no update`)
	add(o.unimportant, "memory point", "without a number as importance, which the weighted recall leaves out; upstream stops at them after all calls")
	add(o.unknownType, "memory point", "of a type that upstream does not know; it stops at them after all calls")
	add(o.renamed, "memory point", "with the index of another point of the session; their ids end in ~2 and so on")
	add(o.unanswered, "question", "without a system_response, which stay unjudged; upstream stops at them")
	add(o.incomplete, "question", "without an answer, a text or its evidence, which stay unjudged; upstream stops at them")
	add(o.untimed, "user", "without any item at the end of the file, whose times are not in the sums")
	if o.points > 0 && o.extracted == 0 {
		list = append(list, noteNoExtraction)
	}
	return list
}
