package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"deem/bench/internal/hardware"
)

// A machine is what decides how long things take: numbers of one kind of machine are
// compared with each other, and with no others.
type machine struct {
	Processor  string `json:"processor"`
	Processors int    `json:"processors"`
	System     string `json:"system"` // as linux/amd64
	Go         string `json:"go"`     // without the patch release, as go1.26
}

// thisMachine returns the machine that this is.
func thisMachine() machine {
	return machine{
		Processor: hardware.Processor(), Processors: processors(),
		System: runtime.GOOS + "/" + runtime.GOARCH, Go: minor(runtime.Version()),
	}
}

func (m machine) String() string {
	return fmt.Sprintf("%d processors (%s), %s, %s", m.Processors, m.Processor, m.System, m.Go)
}

// minor returns a version of Go without its patch release, or as it is where it has
// another form.
func minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 3 {
		return version
	}
	return parts[0] + "." + parts[1]
}

// pinned is set, to the number of processors, for a program that was put onto one.
const pinned = "BENCH_PINNED"

// processors returns how many processors there are, also to a program that has but one.
func processors() int {
	if n, err := strconv.Atoi(os.Getenv(pinned)); err == nil {
		return n
	}
	return runtime.NumCPU()
}

// A load is how busy the machine was before anything was measured: how many processes
// wanted a processor, for each that there is.
type load float64

// currentLoad returns the load of the last minute, 0 where the system does not tell.
func currentLoad() load {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var average float64
	if _, err := fmt.Sscan(string(text), &average); err != nil {
		return 0
	}
	return load(average / float64(processors()))
}

// warning says when the machine did not have the time to be measured on. Ratios bear
// some of that, but not time on the clock that is set beside an ideal.
func (l load) warning() string {
	if l < 0.3 {
		return ""
	}
	return fmt.Sprintf("The machine was busy with other work: %.1f processes wanted each processor before the first measurement. Times on the clock are worth little.", float64(l))
}
