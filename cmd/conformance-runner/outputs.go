package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/docket-go/docket/conformance"
)

// outputs are the files that a certification leaves, "" for none.
type outputs struct {
	json     string
	junit    string
	markdown string
	badge    string
}

// check refuses early what could only fail at the end of a long run.
func (o outputs) check(several bool) error {
	if o.badge != "" && several {
		return errors.New("--badge: a badge is of one backend; name it with --backend or --exec")
	}
	for flag, file := range map[string]string{"json": o.json, "junit": o.junit, "markdown": o.markdown, "badge": o.badge} { // order-free: any failure will do
		if file == "" {
			continue
		}
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		f.Close()
	}
	return nil
}

func (o outputs) write(reports []conformance.Report) error {
	if o.json != "" {
		if err := conformance.WriteJSON(o.json, reports); err != nil {
			return fmt.Errorf("--json: %w", err)
		}
	}
	return errors.Join(
		toFile("--junit", o.junit, func(w io.Writer) error { return conformance.WriteJUnit(w, reports...) }),
		toFile("--markdown", o.markdown, func(w io.Writer) error {
			for _, r := range reports {
				if err := r.WriteMarkdown(w); err != nil {
					return err
				}
			}
			return nil
		}),
		toFile("--badge", o.badge, func(w io.Writer) error { return reports[0].WriteBadge(w) }),
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
