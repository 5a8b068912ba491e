package conformance

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Text writes a case that didn't pass for people: its rule and clauses, what was
// wrong, and the calls it made.
func (r Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  [%s]\n", strings.ToUpper(string(r.Outcome)), r.ID, strings.Join(r.Clauses, " "))
	fmt.Fprintf(&b, "  rule: %s\n", r.Rule)
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "  - %s\n", indent(f, "    "))
	}
	if len(r.Log) > 0 {
		fmt.Fprintf(&b, "  calls (T is %s):\n", epoch.Format(time.RFC3339Nano))
		for _, line := range r.Log {
			fmt.Fprintf(&b, "    %s\n", indent(line, "      "))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// WriteText writes the report as a table for people, failures first.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, res := range r.Results {
		if res.Outcome == Fail || res.Outcome == Broke {
			fmt.Fprintf(&b, "%s\n\n", res.Text())
		}
	}
	r.writeHead(&b)
	r.writeVerdicts(&b)
	r.writeTail(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) writeHead(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s\n", r.Backend, r.Sentence())
	fmt.Fprintf(b, "suite %s (%.12s), seed %d, %s, %s %s/%s\n\n", r.Suite, r.Digest, r.Seed, r.Elapsed.Round(time.Millisecond),
		r.Environment.Go, r.Environment.OS, r.Environment.Arch)
}

// Sentence is the verdict in one sentence.
func (r Report) Sentence() string {
	counts := fmt.Sprintf("%d of %d cases passed", r.Count(Pass), len(r.Results))
	for _, o := range []Outcome{Fail, Broke, Waived, Skip} {
		if n := r.Count(o); n > 0 {
			counts += fmt.Sprintf(", %d %s", n, map[Outcome]string{Fail: "failed", Broke: "broke", Waived: "waived", Skip: "skipped"}[o])
		}
	}
	switch {
	case r.ExitCode() == ExitNonConformant:
		return "NOT CONFORMANT; " + counts
	case r.ExitCode() == ExitCouldNotRun:
		return "COULD NOT RUN; " + counts
	case r.Selected != "":
		return fmt.Sprintf("the cases that match %q pass; %s", r.Selected, counts)
	}
	return "CONFORMANT; " + counts
}

func (r Report) writeVerdicts(b *strings.Builder) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "LEVEL\tVERDICT\tPASSED")
	for _, l := range r.Levels {
		if l.Cases > 0 {
			fmt.Fprintf(table, "%s\t%s\t%d/%d\n", l.Level, l.Verdict, l.Passed, l.Cases)
		}
	}
	fmt.Fprintln(table, "\t\t")
	fmt.Fprintln(table, "QUESTION\tANSWER\tPASSED\tCLAUSES PROVED")
	for _, q := range r.Questions {
		fmt.Fprintf(table, "%s?\t%s\t%d/%d\t%s\n", q.Question, q.Verdict.answer(), q.Passed, q.Cases, strings.Join(q.Clauses, " "))
	}
	table.Flush() // into memory: it can't fail
}

func (v Verdict) answer() string {
	switch v {
	case Granted:
		return "yes"
	case Refused:
		return "NO"
	}
	return string(v)
}

func (r Report) writeTail(b *strings.Builder) {
	proved := r.ProvedClauses()
	fmt.Fprintf(b, "\nproved: %s\n", wrap(proved, "        ", 100))
	hooks := map[string]int{}
	for _, res := range r.Results {
		switch res.Outcome {
		case Skip:
			hooks[res.Reason]++
		case Waived:
			fmt.Fprintf(b, "waived: %s: %s\n", res.ID, res.Reason)
		}
	}
	for _, reason := range sortedKeys(hooks) {
		fmt.Fprintf(b, "skipped: %d (%s)\n", hooks[reason], reason)
	}
}

func indent(text, by string) string { return strings.ReplaceAll(text, "\n", "\n"+by) }

// wrap joins words by spaces and breaks lines before they get longer than width.
func wrap(words []string, margin string, width int) string {
	var b strings.Builder
	column := len(margin)
	for i, w := range words {
		switch {
		case i > 0 && column+1+len(w) > width:
			b.WriteString("\n" + margin)
			column = len(margin)
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += len(w)
	}
	return b.String()
}
