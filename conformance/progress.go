package conformance

import (
	"fmt"
	"io"
	"os"
)

// Progress is one line on a terminal that shows how far the suite is. On
// anything else it writes nothing, so that logs hold reports only.
type Progress struct {
	w      io.Writer
	name   string
	failed int
	shown  bool
}

// NewProgress shows the progress of the named backend on w. Options.Progress takes
// its Tell.
func NewProgress(w io.Writer, name string) *Progress {
	if !isTerminal(w) {
		w = nil
	}
	return &Progress{w: w, name: name}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// Tell shows one more result. It is an Options.Progress.
func (p *Progress) Tell(done, total int, r Result) {
	if r.Outcome == Fail || r.Outcome == Broke {
		p.failed++
	}
	if p.w == nil {
		return
	}
	p.shown = true
	failures := ""
	if p.failed > 0 {
		failures = fmt.Sprintf(", %d failed", p.failed)
	}
	// A line that wraps can't be taken back.
	fmt.Fprint(p.w, "\r\x1b[K"+ellipsis(fmt.Sprintf("%s %d/%d%s  %s", p.name, done, total, failures, r.ID), textWidth-1))
}

// Clear leaves the terminal as it was.
func (p *Progress) Clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
