package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Outputs are the files that a certification leaves, "" for none.
type Outputs struct {
	JSON     string // a list of reports
	JUnit    string // what continuous integration shows as test results
	Markdown string
	Badge    string // an SVG picture, of one report
}

// Flags declares a flag for each file by stringVar, the StringVar of a flag set of
// package flag or of another that is like it.
func (o *Outputs) Flags(stringVar func(p *string, name, value, usage string)) {
	stringVar(&o.JSON, "json", "", "also write the reports as JSON to this `file`")
	stringVar(&o.JUnit, "junit", "", "also write the results as JUnit XML to this `file`")
	stringVar(&o.Markdown, "markdown", "", "also write the reports as Markdown to this `file`")
	stringVar(&o.Badge, "badge", "", "also write an SVG badge to this `file` (of one backend)")
}

// Check refuses early what could only fail at the end of a long run.
func (o Outputs) Check(several bool) error {
	if o.Badge != "" && several {
		return errors.New("--badge: a badge is of one backend, and several are certified")
	}
	var errs []error
	for _, out := range []struct{ flag, file string }{{"json", o.JSON}, {"junit", o.JUnit}, {"markdown", o.Markdown}, {"badge", o.Badge}} {
		if out.file == "" {
			continue
		}
		f, err := os.OpenFile(out.file, os.O_WRONLY|os.O_CREATE, 0o644)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", out.flag, err))
		}
	}
	return errors.Join(errs...)
}

// Write writes the reports to each file that was asked for.
func (o Outputs) Write(reports []Report) error {
	return errors.Join(
		toFile("--json", o.JSON, func(w io.Writer) error { return writeJSON(w, reports) }),
		toFile("--junit", o.JUnit, func(w io.Writer) error { return WriteJUnit(w, reports...) }),
		toFile("--markdown", o.Markdown, func(w io.Writer) error {
			for _, r := range reports {
				if err := r.WriteMarkdown(w); err != nil {
					return err
				}
			}
			return nil
		}),
		toFile("--badge", o.Badge, func(w io.Writer) error { return reports[0].WriteBadge(w) }),
	)
}

func toFile(flag, file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	var data bytes.Buffer
	err := write(&data)
	if err == nil {
		err = os.WriteFile(file, data.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}
