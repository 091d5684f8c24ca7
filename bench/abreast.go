package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// nobody is the address of a bare loop that makes its replies itself.
const nobody = "self"

// A pace is a bare loop that goes on until it is told to end. Run beside something on
// the same processor, it shows what an item costs just then: what else the machine does
// slows both by the same share, and the ratio stays.
type pace struct {
	cmd *exec.Cmd
	end func() error
	out bytes.Buffer
	say bytes.Buffer
}

// startPace starts a bare loop over the items of a file.
func (l *lab) startPace(ctx context.Context, url string) (*pace, error) {
	data, err := l.items(10_000, answer)
	if err != nil {
		return nil, err
	}
	p := &pace{cmd: exec.CommandContext(ctx, self(), "bare", "-loop", "-data", data, "-prompt", l.prompt(), "-url", url, "-j", "64")} //nolint:gosec // it is this program
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = &p.out, &p.say, environment()
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.end = in.Close
	return p, p.cmd.Start()
}

// stop ends the loop and returns the processor time of an item.
func (p *pace) stop() (time.Duration, error) {
	_ = p.end()
	if err := p.cmd.Wait(); err != nil {
		return 0, fmt.Errorf("the bare loop: %w\n%s", err, tail(p.say.String()))
	}
	s, err := usage(p.cmd.ProcessState)
	if err != nil {
		return 0, err
	}
	var labels map[string]int
	if err := json.Unmarshal(p.out.Bytes(), &labels); err != nil {
		return 0, err
	}
	n := 0
	for _, k := range labels {
		n += k
	}
	if n == 0 {
		return 0, fmt.Errorf("the bare loop did nothing")
	}
	return s.cpu / time.Duration(n), nil
}

// abreast measures something that does n items beside a bare loop that asks at the given
// address, several times, and returns the median of the ratios of what an item takes.
func (l *lab) abreast(ctx context.Context, what string, n int, url string, do func() (spent, error)) (value, error) {
	const times = 3
	var ratios []float64
	var note string
	for range times {
		p, err := l.startPace(ctx, url)
		if err != nil {
			return value{}, err
		}
		s, failed := do()
		bare, err := p.stop()
		if err := errors.Join(failed, err); err != nil {
			return value{}, err
		}
		ratios = append(ratios, ratio(s.cpu/time.Duration(n), bare))
		note = fmt.Sprintf("%s / %.1f µs", each(s.cpu, n), micros(bare))
	}
	return value{measure{what: what, kind: processor}, middle(ratios), note}, nil
}

// middle returns the median of numbers, the upper one of an even number.
func middle(list []float64) float64 {
	return slices.Sorted(slices.Values(list))[len(list)/2]
}

// prompt returns the file with the prompt that all ask with.
func (l *lab) prompt() string { return filepath.Join(l.repo, "judge", "prompts", "universal.txt") }
