// Package image builds a Docker image of the PostgreSQL server that is installed
// on this machine, for machines that can't pull one.
//
//	err := image.Build(ctx, "docket-postgres:local", "testdata/image")
//
// It stages the binaries, what they link to, their share directory, a shell and
// the time zones, and gives them to docker build with the Dockerfile of the given
// directory. It works where ldd does, and it is for tests: the image has no
// package database and no updates.
package image

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/docket-go/docket/adapters/pgx/internal/cluster"
)

// Build builds the image under a tag. Recipe is the directory with Dockerfile
// and entrypoint.sh.
func Build(ctx context.Context, tag, recipe string) (err error) {
	bin, err := cluster.Find()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "docket-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := stage{root: filepath.Join(dir, "root"), done: map[string]bool{}}
	if err := s.server(ctx, bin); err != nil {
		return err
	}
	if err := s.surroundings(ctx, recipe); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		return err
	}
	if err := s.copy(filepath.Join(recipe, "Dockerfile"), "../Dockerfile"); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "docker", "build", "--quiet", "--tag", tag, dir)
	build.Env = append(os.Environ(), "DOCKER_BUILDKIT=0") // a plug-in of newer clients that isn't always there
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("image: docker build: %w\n%s", err, out)
	}
	return nil
}

// stage is a root directory that is being filled.
type stage struct {
	root string
	done map[string]bool
}

// server stages the programs, their libraries, and what they read. The server
// finds its other directories relative to its own, as pg_config tells them.
func (s *stage) server(ctx context.Context, bin string) error {
	asked := func(what string) (string, error) {
		out, err := exec.CommandContext(ctx, filepath.Join(bin, "pg_config"), what).Output()
		return strings.TrimSpace(string(out)), err
	}
	lib, err := asked("--pkglibdir")
	if err != nil {
		return fmt.Errorf("image: pg_config: %w", err)
	}
	share, err := asked("--sharedir")
	if err != nil {
		return fmt.Errorf("image: pg_config: %w", err)
	}
	for _, name := range []string{"postgres", "initdb"} {
		if err := s.linked(ctx, filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	modules, err := filepath.Glob(filepath.Join(lib, "*.so"))
	if err != nil {
		return err
	}
	for _, m := range modules {
		if !strings.Contains(m, "llvm") { // by far the largest, and jit is off
			if err := s.linked(ctx, m); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(s.root, "pg"), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(bin, filepath.Join(s.root, "pg", "bin")); err != nil {
		return err
	}
	return s.tree(share)
}

// surroundings stages what programs expect of a system.
func (s *stage) surroundings(ctx context.Context, recipe string) error {
	if err := s.linked(ctx, "/bin/sh"); err != nil {
		return err
	}
	if err := s.tree("/usr/share/zoneinfo"); err != nil {
		return err
	}
	if err := s.copy(filepath.Join(recipe, "entrypoint.sh"), "entrypoint.sh"); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"etc/passwd": "postgres:x:70:70::/data:/bin/sh\n", "etc/group": "postgres:x:70:\n",
	} {
		if err := os.MkdirAll(filepath.Join(s.root, "etc"), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, dir := range []string{"tmp", "dev/shm"} {
		if err := os.MkdirAll(filepath.Join(s.root, dir), 0o777); err != nil {
			return err
		}
	}
	return os.Chmod(filepath.Join(s.root, "tmp"), fs.ModeSticky|0o777)
}

var libraryPath = regexp.MustCompile(`(?m)(/\S+)\s+\(0x`)

// linked stages a file and the shared libraries that it loads.
func (s *stage) linked(ctx context.Context, path string) error {
	if err := s.file(path); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "ldd", path).Output()
	if err != nil {
		return fmt.Errorf("image: ldd %s: %w", path, err)
	}
	for _, found := range libraryPath.FindAllSubmatch(out, -1) {
		if err := s.file(string(found[1])); err != nil {
			return err
		}
	}
	return nil
}

// tree stages a directory, wherever links lead.
func (s *stage) tree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return nil // a link to nowhere, or to a directory, which is walked itself
		}
		return s.file(path)
	})
}

// file stages a file under its own path.
func (s *stage) file(path string) error {
	if s.done[path] {
		return nil
	}
	s.done[path] = true
	return s.copy(path, path)
}

func (s *stage) copy(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	target := filepath.Join(s.root, to)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, data, info.Mode().Perm())
}
