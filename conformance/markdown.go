package conformance

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// WriteMarkdown writes the report for a page or a release note: the verdict,
// the levels, the three questions, what failed, and how to make it again.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: docket conformance\n\n**%s.**\n\n", markdownText(r.Backend), markdownText(r.Sentence()))
	b.WriteString("| Level | Verdict | Passed |\n| --- | --- | --- |\n")
	for _, l := range r.Levels {
		if l.Cases > 0 {
			fmt.Fprintf(&b, "| `%s` | %s | %d of %d |\n", l.Level, l.Verdict, l.Passed, l.Cases)
		}
	}
	b.WriteString("\n| Question | Answer | Passed | Clauses proved |\n| --- | --- | --- | --- |\n")
	for _, q := range r.Questions {
		fmt.Fprintf(&b, "| %s? | %s | %d of %d | %s |\n", q.Question, q.Verdict.answer(), q.Passed, q.Cases, strings.Join(q.Clauses, " "))
	}
	for _, l := range r.Levels {
		if why := r.notRun(l.Level); l.Verdict == NotCertified && len(why) > 0 {
			fmt.Fprintf(&b, "\n`%s` is not certified: %s.\n", l.Level, strings.Join(why, "; "))
		}
	}
	r.markdownCases(&b)
	r.markdownOrigin(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) markdownCases(b *strings.Builder) {
	for _, res := range r.Results {
		switch res.Outcome {
		case Fail, Broke:
			fmt.Fprintf(b, "\n## %s: %s\n\n%s (%s)\n\n```text\n%s\n```\n", res.Outcome, res.ID, markdownText(res.Rule),
				strings.Join(res.Clauses, ", "), strings.ReplaceAll(res.Text(), "```", "'''"))
		case Waived:
			fmt.Fprintf(b, "\nWaived: `%s`, %s\n", res.ID, markdownText(res.Reason))
		}
	}
}

func (r Report) markdownOrigin(b *strings.Builder) {
	fmt.Fprintf(b, "\nSuite %s, digest `%.12s`, seed %d, made %s with %s on %s/%s.\n", r.Suite, r.Digest, r.Seed,
		r.Started.UTC().Format(time.DateOnly), r.Environment.Go, r.Environment.OS, r.Environment.Arch)
	if len(r.Reproduce) > 0 {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.Join(quoted(r.Reproduce), " "))
	}
}

// markdownText keeps texts from becoming markup.
func markdownText(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "\n", " ").Replace(s)
}
