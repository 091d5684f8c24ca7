package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"deem"
	"deem/internal/doc"
)

// LockVersion names the format and its version.
const LockVersion = "deem.lock/1"

// A Lock is what was promised before a run: which items, which judges, what is left out,
// and which gates must hold. A run with a lock says whether it was kept, so that readers
// need not believe that the judge was chosen before the score was known.
//
// A lock is a small JSON file. Its hash is in the run, in every report of it and in the run
// file. The file says itself when it was made, so it proves only as much as the place where
// its hash was published first, for example a commit or a mail.
type Lock struct {
	Version string    `json:"version"` // [LockVersion]
	Created time.Time `json:"created"`
	Deem    string    `json:"deem"` // the version that wrote the lock

	Dataset LockedDataset `json:"dataset"`
	Judges  []LockedJudge `json:"judges"`
	Trials  int           `json:"trials"`

	// Exclude are the items to be left out, as "category=adversarial". The hash of the
	// dataset is that of the others.
	Exclude []string `json:"exclude"`

	// Errata is the hash of the list of faults in the answer key that is looked at, and
	// Corrected says that its corrections are put into effect before judging.
	Errata    string `json:"errata,omitempty"`
	Corrected bool   `json:"corrected,omitempty"`

	// MaxUnjudged is the share of unjudged items above which there is no score.
	MaxUnjudged float64 `json:"max_unjudged"`

	// Gates are the conditions that decide the exit code.
	Gates []string `json:"gates"`
}

// A LockedDataset says which items.
type LockedDataset struct {
	Names []string `json:"names"` // no part of what is compared
	Hash  string   `json:"hash"`
	Items int      `json:"items"`
}

// A LockedJudge says who judges. The hash covers everything else.
type LockedJudge struct {
	Name    string `json:"name"`
	Hash    string `json:"hash"`
	Model   string `json:"model,omitempty"`
	Reading string `json:"reading,omitempty"`
}

// Hash returns the SHA-256 of the lock's canonical JSON in hexadecimal.
func (l Lock) Hash() string {
	hash, err := deem.Hash(l)
	if err != nil {
		panic(fmt.Sprintf("lock: %v", err)) // A share that is not a number; Check refuses it.
	}
	return hash
}

// Write writes the lock as indented JSON.
func (l Lock) Write(w io.Writer) error { return doc.JSON(w, l) }

// maxLockSize bounds what is read. A lock is a page or two.
const maxLockSize = 1 << 20

// ReadLock reads a lock. A key that it does not know, as one of a newer version, is an
// error: what is not understood cannot be held.
func ReadLock(r io.Reader) (Lock, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxLockSize+1))
	if err != nil {
		return Lock{}, err
	}
	if len(data) > maxLockSize {
		return Lock{}, fmt.Errorf("this is not a lock: it is larger than %d bytes", maxLockSize)
	}
	var is struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &is); err != nil {
		return Lock{}, fmt.Errorf("this is not a lock: %w", err)
	}
	if is.Version != LockVersion {
		return Lock{}, fmt.Errorf("this is not a lock of version %s: it says version %q", LockVersion, is.Version)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var l Lock
	if err := dec.Decode(&l); err != nil {
		return Lock{}, fmt.Errorf("this lock cannot be read: %w", err)
	}
	return l, l.Check()
}

// Check says what a lock lacks.
func (l Lock) Check() error {
	switch {
	case l.Dataset.Hash == "":
		return errors.New("the lock names no dataset hash")
	case len(l.Judges) == 0 || slices.ContainsFunc(l.Judges, func(j LockedJudge) bool { return j.Hash == "" }):
		return errors.New("the lock names no judge hash")
	case l.Trials < 1:
		return fmt.Errorf("the lock has %d trials, and at least 1 is needed", l.Trials)
	case !(l.MaxUnjudged >= 0 && l.MaxUnjudged <= 1): // also NaN
		return fmt.Errorf("the lock's max_unjudged %v lies outside 0 to 1", l.MaxUnjudged)
	}
	return nil
}

// A LockDifference is something that is not as it was promised.
type LockDifference struct {
	What   string `json:"what"` // as "judge hash"
	Locked string `json:"locked"`
	Now    string `json:"now"`
}

// String returns the difference in words, as "judge hash differs".
func (d LockDifference) String() string {
	if strings.HasSuffix(d.What, "s") {
		return d.What + " differ"
	}
	return d.What + " differs"
}

// Against returns what differs in now from what was locked. Of several judges that were
// promised a command may ask some; one that was not promised is a difference.
func (l Lock) Against(now Lock) []LockDifference {
	var list []LockDifference
	differ := func(what, locked, is string) {
		if locked != is {
			list = append(list, LockDifference{what, locked, is})
		}
	}
	differ("dataset hash", l.Dataset.Hash, now.Dataset.Hash)
	for _, j := range now.Judges {
		if slices.ContainsFunc(l.Judges, func(locked LockedJudge) bool { return locked.Hash == j.Hash }) {
			continue
		}
		// A judge is compared with the one of its name if there is one, else with all.
		at := slices.IndexFunc(l.Judges, func(locked LockedJudge) bool { return locked.Name == j.Name })
		if at < 0 {
			var names []string
			for _, locked := range l.Judges {
				names = append(names, locked.Name)
			}
			list = append(list, LockDifference{"judge", strings.Join(names, ", "), j.Name})
			continue
		}
		old := l.Judges[at]
		list = append(list, LockDifference{"judge hash", deem.ShortHash(old.Hash), deem.ShortHash(j.Hash)})
		differ("model", old.Model, j.Model)
		differ("reading", old.Reading, j.Reading)
	}
	differ("trials", strconv.Itoa(l.Trials), strconv.Itoa(now.Trials))
	differ("exclusions", sortedList(l.Exclude), sortedList(now.Exclude))
	differ("errata", lockErrata(l), lockErrata(now))
	differ("share of unjudged items that is allowed", lockShare(l.MaxUnjudged), lockShare(now.MaxUnjudged))
	differ("gates", sortedList(l.Gates), sortedList(now.Gates))
	return list
}

// sortedList returns a list in one text, whatever its order.
func sortedList(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(slices.Values(list)), ", ")
}

func lockErrata(l Lock) string {
	switch {
	case l.Errata == "":
		return "none"
	case l.Corrected:
		return deem.ShortHash(l.Errata) + ", corrected"
	}
	return deem.ShortHash(l.Errata)
}

func lockShare(x float64) string { return strconv.FormatFloat(100*x, 'g', 6, 64) + "%" }
