package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
)

// How measurements on the clock are protected from the host of this machine, where it is
// a guest: the host may give its processors to others, and then whatever runs here stands
// still. What is measured meanwhile says nothing about a program.
const (
	stolenMost = 0.002            // the share of all processor time that may be taken
	again      = 4                // how often a run is measured again at most
	endurance  = 15 * time.Minute // how long all of that may take together
)

// A theft is what the host took from the measurements that count, and what was done
// about it.
type theft struct {
	Most     float64       `json:"most"`     // the largest share of processor time in a measurement
	Repeated int           `json:"repeated"` // measurements that were made again
	Waited   time.Duration `json:"waited_ns"`
}

// undisturbed measures a workload once. If it depends on the clock and the host took
// processors away, it is measured again, and the measurement counts from which the least
// was taken: which one that is does not depend on what it gave.
func (t *theft) undisturbed(w workload, measure func() ([]value, float64, error)) ([]value, error) {
	values, least, err := measure()
	if !w.timed || err != nil {
		return values, err
	}
	for range again {
		if least <= stolenMost || t.Waited > endurance {
			break
		}
		began := time.Now()
		others, stolen, err := measure()
		if err != nil {
			return nil, err
		}
		t.Waited += time.Since(began)
		t.Repeated++
		if stolen < least {
			values, least = others, stolen
		}
	}
	t.Most = max(t.Most, least)
	return values, nil
}

// String says what happened, "" if nothing did.
func (t theft) String() string {
	if t.Repeated == 0 && t.Most <= stolenMost {
		return ""
	}
	return fmt.Sprintf("The host of this machine gave its processors to others. What has a target on the clock was measured again where it took more than %.1f%% of them, %d times in all, "+
		"and the measurements count from which it took least: %.1f%% at most.", 100*stolenMost, t.Repeated, 100*t.Most)
}

// watched measures a workload and returns which share of the processors was taken from
// this machine meanwhile.
func (l *lab) watched(ctx context.Context, w workload) ([]value, float64, error) {
	before := processorTime()
	values, err := w.once(ctx, l)
	return values, processorTime().stolenSince(before), err
}

// ticks are the time of all processors since the start of the machine, in units of the
// system's own.
type ticks struct{ all, stolen uint64 }

// processorTime returns the time so far, none where the system does not tell.
func processorTime() ticks {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}
	}
	return readTicks(text)
}

// readTicks reads the first line of /proc/stat: user, nice, system, idle, iowait, irq,
// softirq, steal, and what is part of user already.
func readTicks(text []byte) ticks {
	const stealAt, fields = 7, 8
	line, _, _ := bytes.Cut(text, []byte("\n"))
	words := bytes.Fields(line)
	if len(words) <= fields || string(words[0]) != "cpu" {
		return ticks{}
	}
	var t ticks
	for i, word := range words[1 : fields+1] {
		n, err := strconv.ParseUint(string(word), 10, 64)
		if err != nil {
			return ticks{}
		}
		t.all += n
		if i == stealAt {
			t.stolen = n
		}
	}
	return t
}

// stolenSince returns the share of the time since before that the host took, 0 where
// nobody knows.
func (t ticks) stolenSince(before ticks) float64 {
	if t.all <= before.all || t.stolen < before.stolen {
		return 0
	}
	return float64(t.stolen-before.stolen) / float64(t.all-before.all)
}
