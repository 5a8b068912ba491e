package backend

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/ports"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestLevels pins what the store is certified for: a certificate that lost a
// level, because a capability isn't declared any more, is no failure by itself.
func TestLevels(t *testing.T) {
	t.Parallel()
	report := certify(t, func() ports.Backend { return New() }, "")
	for _, v := range report.Levels {
		if want := v.Level == conformance.LevelCore; want != (v.Verdict == conformance.Granted) {
			t.Errorf("level %s: %s", v.Level, v.Verdict)
		}
	}
	for _, q := range report.Questions {
		if q.Verdict != conformance.Granted {
			t.Errorf("question %s: %s", q.Question, q.Verdict)
		}
	}
	var text strings.Builder
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	verdicts, _, _ := strings.Cut(text.String(), "\nproved:")
	golden(t, "certificate.txt", verdicts, withoutFigures)
}

// TestMistakes certifies each wrong store by the case that must refuse it.
func TestMistakes(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for _, m := range mistakes {
		report := certify(t, m.store, m.caught)
		if report.ExitCode() != conformance.ExitNonConformant {
			t.Errorf("%s: not caught by %s: %s", m.name, m.caught, report.Sentence())
			continue
		}
		r := report.Results[0]
		fmt.Fprintf(&list, "%s\n    %s [%s]\n    %s\n", m.name, r.ID, strings.Join(r.Clauses, " "), r.Rule)
		if m.name == "an ended claim is refused" {
			golden(t, "mistake.txt", steady(r.Text()), exactly)
		}
	}
	golden(t, "mistakes.txt", list.String(), exactly)
}

func certify(t *testing.T, open func() ports.Backend, id string) conformance.Report {
	t.Helper()
	var options conformance.Options
	if id != "" {
		options.Select = regexp.MustCompile("^" + regexp.QuoteMeta(id) + "$")
	}
	report, err := conformance.Check(t.Context(), conformance.Harness{
		Name: "example",
		Open: func(context.Context) (ports.Backend, error) { return open(), nil },
	}, options)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

var (
	token   = regexp.MustCompile(`"[A-Z2-7]{26}"`)
	figures = regexp.MustCompile(`(?m)^suite.*$|^\+.*$|[0-9]+/[0-9]+|[0-9]+ (of|cases|skipped)|[A-Z]{2,3}-[0-9]+`)
)

// steady replaces tokens, which are random, by one word.
func steady(text string) string { return token.ReplaceAllString(text, `"TOKEN"`) }

// withoutFigures leaves what depends neither on the machine nor on how many
// cases, clauses and further levels the suite has by now.
func withoutFigures(text string) string {
	return strings.Join(strings.Fields(figures.ReplaceAllString(text, " ")), " ")
}

func exactly(text string) string { return text }

// golden compares what matters of a text with a file's. Blanks at the end of its
// lines are dropped.
func golden(t *testing.T, name, got string, matters func(string) string) {
	t.Helper()
	got = regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(strings.TrimSpace(got), "") + "\n"
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if matters(string(want)) != matters(got) {
		t.Errorf("%s is\n%s\nand would now be (-update)\n%s", file, want, got)
	}
}
