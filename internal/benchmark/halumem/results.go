package halumem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"deem"
	"deem/internal/text"
)

// recordedJudge is the name of the judge that filled in a results file.
const recordedJudge = "halumem (recorded)"

// The lists of judged rows in a results file, by stage.
var listOf = map[string]string{
	"memory_integrity_records":   Integrity,
	"memory_accuracy_records":    Accuracy,
	"memory_update_records":      Update,
	"question_answering_records": QA,
}

// ReadResults yields a record for each row of a file written by evaluation.py or a program
// like it: <frame>_eval_stat_result.json, or the tmp2/<uuid>.json of one user. Rows without
// a usable verdict become records with a failure, whatever the program put in its place.
// The reading determines what counts as inclusion; name is used in messages.
//
// The rows of the stage "accuracy" are numbered in order, because the file does not say
// which memory of its session each one was. The file is read row by row; iteration ends
// after an error.
func ReadResults(ctx context.Context, r io.Reader, name, reading string) iter.Seq2[deem.Record, error] {
	return func(yield func(deem.Record, error) bool) {
		reading, err := checkReading(reading)
		if err != nil {
			yield(deem.Record{}, err)
			return
		}
		im := &importer{dec: json.NewDecoder(r), reading: reading, numbers: map[string]int{}, yield: yield}
		im.dec.UseNumber()
		if err := im.run(ctx); err != nil && !errors.Is(err, errEnough) {
			yield(deem.Record{}, fmt.Errorf("read %s: %w", name, err))
		}
	}
}

// errEnough means that the caller has stopped the iteration.
var errEnough = errors.New("no more records are wanted")

// An importer reads one results file.
type importer struct {
	dec      *json.Decoder
	reading  string
	numbers  map[string]int // of rows, by user, session and stage
	position int
	yield    func(deem.Record, error) bool
}

// run reads the outer object.
func (im *importer) run(ctx context.Context) error {
	if err := im.expect('{'); err != nil {
		return errors.New("it is not a JSON object of lists of records")
	}
	lists := 0
	for im.dec.More() {
		token, err := im.dec.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		stage, ok := listOf[key]
		if !ok {
			var skipped json.RawMessage
			if err := im.dec.Decode(&skipped); err != nil {
				return err
			}
			continue
		}
		lists++
		if err := im.list(ctx, key, stage); err != nil {
			return err
		}
	}
	if err := im.expect('}'); err != nil {
		return err
	}
	if lists == 0 {
		return errors.New("it has none of the lists memory_integrity_records, memory_accuracy_records, memory_update_records, question_answering_records")
	}
	return nil
}

// expect reads a delimiter.
func (im *importer) expect(want json.Delim) error {
	token, err := im.dec.Token()
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case token != want:
		return fmt.Errorf("%v where %v should be", token, want)
	}
	return nil
}

// list reads the rows of one stage.
func (im *importer) list(ctx context.Context, key, stage string) error {
	if err := im.expect('['); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for i := 0; im.dec.More(); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		var row map[string]any
		if err := im.dec.Decode(&row); err != nil {
			return fmt.Errorf("%s, row %d: %w", key, i, err)
		}
		rec, err := im.record(stage, row)
		if err != nil {
			return fmt.Errorf("%s, row %d: %w", key, i, err)
		}
		if !im.yield(rec, nil) {
			return errEnough
		}
	}
	return im.expect(']')
}

// record returns the record for a row. Its item has what the row contains of it.
func (im *importer) record(stage string, row map[string]any) (deem.Record, error) {
	if row["uuid"] == nil || row["ssession_id"] == nil {
		return deem.Record{}, errors.New("the row has no uuid or no ssession_id")
	}
	uuid, session := text.Str(row["uuid"]), text.Str(row["ssession_id"])
	number := strOf(row, fieldIndex)
	id := uuid + "/" + session + "/" + stage + "/"
	if stage == Accuracy || stage == QA || number == "" {
		number = strconv.Itoa(im.count(id))
	} else if n := im.count(id + number); n > 0 {
		id, number = id+number+"~", strconv.Itoa(n+1)
	}
	it := deem.Item{ID: id + number, Category: stage, Cluster: uuid, Fields: map[string]string{fieldSession: session}}
	for _, key := range []string{fieldIndex, fieldType, fieldSource, fieldImportance, fieldIsUpdate, fieldKind, fieldDifficulty, fieldContext} {
		set(it.Fields, key, strOf(row, key))
	}
	switch stage {
	case Accuracy:
		it.Response = strOf(row, "memory_content")
	case QA:
		it.Question, it.References, it.Response = strOf(row, "question"), []string{strOf(row, "answer")}, strOf(row, "system_response")
		var evidence []string
		list, _ := row[fieldEvidence].([]any)
		for _, e := range list {
			if point, ok := e.(map[string]any); ok {
				evidence = append(evidence, strOf(point, "memory_content"))
			}
		}
		it.Fields[fieldEvidence] = strings.Join(evidence, "\n")
		if row[fieldContext] != nil {
			it.Fields[fieldRetrieved] = retrieval(it.Question, it.Fields[fieldContext], evidence)
		}
		if ms := strOf(row, "search_duration_ms"); ms != "" {
			it.Fields[fieldSearchTimes] = ms
		}
	default:
		it.References = []string{strOf(row, "memory_content")}
		it.Response = joinedOf(row["memories_from_system"])
		set(it.Fields, fieldOriginal, joinedOf(row[fieldOriginal]))
	}
	rec := deem.Record{Item: it, Position: im.position, Judge: recordedJudge}
	im.position++
	v, f := im.verdict(it, row)
	if rec.Failure = f; f == nil {
		rec.Verdict = &v
	}
	return rec, nil
}

// count returns the number of earlier calls with the key.
func (im *importer) count(key string) int {
	n := im.numbers[key]
	im.numbers[key]++
	return n
}

// strOf returns a value in Python's format, or "" if there is none.
func strOf(row map[string]any, key string) string {
	if row[key] == nil {
		return ""
	}
	return text.Str(row[key])
}

// joinedOf joins a list of strings with newlines.
func joinedOf(v any) string {
	list, _ := v.([]any)
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = text.Str(e)
	}
	return strings.Join(lines, "\n")
}

// verdict reads the recorded decision of a row.
func (im *importer) verdict(it deem.Item, row map[string]any) (deem.Verdict, *deem.Failure) {
	key := map[string]string{
		Integrity: "memory_integrity_score", Accuracy: "memory_accuracy_score", Update: "memory_update_type", QA: "result_type",
	}[it.Category]
	value := row[key]
	switch reason, failed := row["judge_failure_reason"].(string); {
	case failed || value == "judge_failed":
		return deem.Verdict{}, deem.Failf(deem.Provider, "recorded as failed: %s", clip(reason))
	case value == nil:
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "recorded as invalid")
	case it.Category == Update || it.Category == QA:
		label, _ := value.(string)
		if !slices.Contains(labelsOf(it.Category), label) {
			return deem.Verdict{}, deem.Failf(deem.Unparseable, "the recorded label is none of %s: %s", strings.Join(labelsOf(it.Category), ", "), clip(text.Repr(value)))
		}
		return labelled(label, ""), nil
	}
	// Unlike in a reply a score must be a number, because upstream computes with it directly.
	number, ok := value.(json.Number)
	if !ok {
		return deem.Verdict{}, deem.Failf(deem.Unparseable, "the recorded score is not a number: %s", clip(text.Repr(value)))
	}
	n, err := number.Float64()
	if err != nil || n != 0 && n != 1 && n != 2 {
		return deem.Verdict{}, deem.Failf(deem.OutOfRange, "the recorded score %s is none of 0, 1 and 2", number)
	}
	v := scored(it, int(n))
	if it.Category != Accuracy {
		return v, nil
	}
	included := row[keyIncluded]
	counts := includedUpstream(included)
	if im.reading != Upstream {
		if counts, ok = inclusion(included); !ok {
			return deem.Verdict{}, deem.Failf(deem.Unparseable, "%s is neither true nor false: %s", keyIncluded, clip(text.Repr(included)))
		}
	}
	v.Aspects = map[string]float64{aspectIncluded: counts}
	return v, nil
}
