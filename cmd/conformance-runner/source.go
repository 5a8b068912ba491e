package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/docket-go/docket/conformance"
	"github.com/docket-go/docket/conformance/wire/process"
)

// source is a backend that can be certified.
type source struct {
	name   string   // what is shown while it runs
	again  []string // the flags that name it
	isExec bool

	// open gives its harness and what undoes it.
	open func(context.Context) (conformance.Harness, func() error, error)
}

// sources reads what the command line wants certified.
func (f flags) sources() ([]source, error) {
	switch {
	case f.exec != "":
		return f.program()
	case f.name != "":
		return nil, errors.New("--name: only with --exec; an embedded backend has its name")
	case len(f.args) > 0:
		return nil, fmt.Errorf("%q: arguments belong to a program: name it with --exec", f.args[0])
	case len(f.backends) == 0:
		return nil, errors.New("--backend: no backend is named")
	}
	var all []source
	for _, name := range f.backends {
		s, err := f.ownBackend(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (f flags) ownBackend(name string) (source, error) {
	open, known := backends[name]
	if !known {
		return source{}, fmt.Errorf("--backend: %q is not one of %s", name, strings.Join(backendNames(), ", "))
	}
	return source{
		name: name, again: []string{"--backend", name},
		open: func(ctx context.Context) (conformance.Harness, func() error, error) { return open(ctx, f) },
	}, nil
}

// program is a source whose handles are processes. Path is looked up once: the
// program must be the same in every process.
func (f flags) program() ([]source, error) {
	path, err := exec.LookPath(f.exec)
	if err != nil {
		return nil, fmt.Errorf("--exec: %w", err)
	}
	s := source{name: f.exec, again: []string{"--exec", f.exec}, isExec: true}
	if f.name != "" {
		s.again = append(s.again, "--name", f.name)
	}
	s.open = func(ctx context.Context) (conformance.Harness, func() error, error) {
		fleet, err := process.New(ctx, process.Config{Path: path, Args: f.args, Name: f.name})
		if err != nil {
			return conformance.Harness{}, nil, err
		}
		return fleet.Harness(), fleet.Close, nil
	}
	return []source{s}, nil
}

// reproduce is the command line that makes the report again. The program's
// arguments come last.
func (f flags) reproduce(s source) []string {
	line := append([]string{"conformance-runner"}, s.again...)
	line = append(line, "--seed", fmt.Sprint(max(f.seed, 1)))
	if f.run != "" {
		line = append(line, "--run", f.run)
	}
	if f.require != "" {
		line = append(line, "--require", f.require)
	}
	for _, w := range f.waive {
		line = append(line, "--waive", w)
	}
	if s.isExec && len(f.args) > 0 {
		line = append(append(line, "--"), f.args...)
	}
	return slices.Clip(line)
}
