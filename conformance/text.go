package conformance

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Text writes a case that didn't pass for people: its rule and clauses, what was
// wrong, and the calls it made.
func (r Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  [%s]\n", strings.ToUpper(string(r.Outcome)), r.ID, strings.Join(r.Clauses, " "))
	fmt.Fprintf(&b, "  rule: %s\n", r.Rule)
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "  - %s\n", indent(f, "      "))
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

// WriteCases lists every case with its outcome.
func (r Report) WriteCases(w io.Writer) error {
	var b strings.Builder
	for _, res := range r.Results {
		fmt.Fprintf(&b, "%-7s %-48s %8s  %s", res.Outcome, res.ID, res.Elapsed.Round(time.Millisecond), strings.Join(res.Clauses, " "))
		if res.Reason != "" {
			fmt.Fprintf(&b, "  (%s)", res.Reason)
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) writeHead(b *strings.Builder) {
	fmt.Fprintln(b, wrap(strings.Fields(r.Backend+": "+r.Sentence()), "  ", textWidth))
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
	lacks := r.lacking()
	switch {
	case r.Count(Fail) > 0:
		return "NOT CONFORMANT; " + counts
	case r.ExitCode() == ExitCouldNotRun:
		return "COULD NOT RUN; " + counts
	case len(lacks) > 0:
		return "NOT WHAT IS REQUIRED: " + requirement(lacks) + "; " + counts
	case r.Selected != "":
		return fmt.Sprintf("the cases that match %q pass; %s", r.Selected, counts)
	}
	return "CONFORMANT; " + counts
}

// requirement tells what became of levels that were required.
func requirement(lacks []LevelVerdict) string {
	var said []string
	for _, l := range lacks {
		said = append(said, fmt.Sprintf("%s is %s", l.Level, l.Verdict))
	}
	return strings.Join(said, ", ")
}

// textWidth is what a report needs of a terminal; only texts of a backend are
// longer.
const textWidth = 80

func (r Report) writeVerdicts(b *strings.Builder) {
	fmt.Fprintf(b, "%-22s  %-13s  %s\n", "LEVEL", "VERDICT", "PASSED")
	for _, l := range r.Levels {
		if l.Cases > 0 {
			fmt.Fprintf(b, "%-22s  %-13s  %d/%d\n", l.Level, l.Verdict, l.Passed, l.Cases)
		}
	}
	fmt.Fprintf(b, "\n%-22s  %-13s  %-7s  %s\n", "QUESTION", "ANSWER", "PASSED", "CLAUSES PROVED")
	for _, q := range r.Questions {
		line := fmt.Sprintf("%-22s  %-13s  %-7s  ", q.Question+"?", q.Verdict.answer(), fmt.Sprintf("%d/%d", q.Passed, q.Cases))
		line += wrap(q.Clauses, strings.Repeat(" ", len(line)), textWidth)
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
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
	if proved := r.ProvedClauses(); len(proved) > 0 {
		fmt.Fprintf(b, "\nproved: %s\n", wrap(proved, "        ", textWidth))
	}
	for _, res := range r.Results {
		if res.Outcome == Waived {
			fmt.Fprintf(b, "\nwaived: %s: %s\n", res.ID, res.Reason)
		}
	}
	for _, l := range r.Levels {
		if why := r.notRun(l.Level); l.Verdict == NotCertified && len(why) > 0 {
			words := strings.Fields(fmt.Sprintf("%s is not certified: %s.", l.Level, strings.Join(why, "; ")))
			fmt.Fprintf(b, "\n%s\n", wrap(words, "", textWidth))
		}
	}
	if len(r.Reproduce) > 0 {
		fmt.Fprintf(b, "\nagain: %s\n", strings.Join(quoted(r.Reproduce), " "))
	}
}

// notRun says what kept cases of a level from running, each reason once.
func (r Report) notRun(l Level) []string {
	cases := map[string]int{}
	for _, res := range r.Results {
		if res.Level == l && res.Outcome == Skip && !res.Undeclared {
			cases[res.Reason]++
		}
	}
	var why []string
	for _, reason := range sortedKeys(cases) {
		why = append(why, fmt.Sprintf("%s (%d)", plainReason(reason), cases[reason]))
	}
	return why
}

// plainReason says what an absent hook means.
func plainReason(reason string) string {
	for need, plain := range map[Need]string{ // order-free: at most one matches
		NeedReopen:   "this harness can't open a store a second time",
		NeedCrash:    "this harness can't crash a handle",
		NeedSpawn:    "this harness can't start another process on a store",
		NeedCorrupt:  "this harness can't damage stored bytes",
		NeedRawWrite: "this harness can't write rows behind the backend",
	} {
		if reason == "needs "+string(need) {
			return plain
		}
	}
	return reason
}

// quoted makes words safe to paste into a shell.
func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`*?[](){}<>|&;#~!^") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return out
}

// indent moves all lines but the first to the right, and leaves no blanks at the
// ends of lines.
func indent(text, by string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(text, " \t\n"), "\n") {
		if line = strings.TrimRight(line, " \t"); i > 0 {
			b.WriteByte('\n')
			if line != "" {
				b.WriteString(by)
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

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
