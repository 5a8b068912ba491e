package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the repository, from this folder.
const root = "../.."

var fromComment = regexp.MustCompile(`^<!-- from (\S+) -->$`)

// snippet is a fenced block of a document.
type snippet struct {
	line     int    // of its opening fence
	language string // "" when the fence names none
	from     string // the file that the comment above it names, or ""
	lines    []string
}

// TestGuideQuotes finds every snippet of the guide, word for word, in the tested
// file that it says it is from.
func TestGuideQuotes(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join(root, "docs", "core.md"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) (string, error) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		return string(data), err
	}
	all := snippets(string(guide))
	quoted := 0
	for _, s := range all {
		if s.language == "go" {
			quoted++
		}
		if problem := s.check(read); problem != "" {
			t.Errorf("docs/core.md:%d: %s", s.line, problem)
		}
	}
	if quoted < 5 {
		t.Errorf("docs/core.md quotes only %d Go snippets: is the test reading it right?", quoted)
	}
}

// TestSnippetCheck makes sure that the check can fail.
func TestSnippetCheck(t *testing.T) {
	t.Parallel()
	read := func(name string) (string, error) {
		if name != "a_test.go" {
			return "", fmt.Errorf("open %s: no such file", name)
		}
		return "func f() {\n\tx := 1\n\n\tif x > 0 {\n\t\tx++\n\t}\n}\n", nil
	}
	const from = "<!-- from a_test.go -->\n"
	for name, c := range map[string]struct{ doc, want string }{
		"whole":             {from + "```go\nfunc f() {\n\tx := 1\n```", ""},
		"inner, unindented": {from + "```go\nx := 1\n\nif x > 0 {\n\tx++\n}\n```", ""},
		"changed":           {from + "```go\nx := 2\n```", "isn't in a_test.go"},
		"part of a line":    {from + "```go\nx :=\n```", "isn't in a_test.go"},
		"uneven indent":     {from + "```go\nif x > 0 {\nx++\n}\n```", "isn't in a_test.go"},
		"no file":           {"<!-- from b_test.go -->\n```go\nx\n```", "no such file"},
		"no comment":        {"Text.\n\n```go\nx := 1\n```", "says not where it is from"},
		"not tested":        {"<!-- from a.go -->\n```go\nx\n```", "no such file"},
		"empty":             {from + "```go\n```", "is empty"},
		"other language":    {"```sh\nls\n```", ""},
	} {
		found := snippets(c.doc)
		if len(found) != 1 {
			t.Errorf("%s: found %d snippets", name, len(found))
			continue
		}
		got := found[0].check(read)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// snippets returns a document's fenced blocks.
func snippets(doc string) []snippet {
	var found []snippet
	var open *snippet
	from := ""
	for i, line := range strings.Split(doc, "\n") {
		switch {
		case open != nil && line == "```":
			found = append(found, *open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, line)
		case strings.HasPrefix(line, "```"):
			open = &snippet{line: i + 1, language: strings.TrimPrefix(line, "```"), from: from}
			from = ""
		case fromComment.MatchString(line):
			from = fromComment.FindStringSubmatch(line)[1]
		case line != "":
			from = ""
		}
	}
	return found
}

// check returns what is wrong with a snippet, or "".
func (s snippet) check(read func(name string) (string, error)) string {
	if s.from == "" {
		if s.language == "go" || s.language == "json" {
			return "the snippet says not where it is from"
		}
		return ""
	}
	if len(s.lines) == 0 {
		return "the snippet is empty"
	}
	text, err := read(s.from)
	if err != nil {
		return err.Error()
	}
	file := strings.Split(text, "\n")
	for i := range file {
		if s.at(file[i:]) {
			return ""
		}
	}
	return "the snippet isn't in " + s.from
}

// at reports whether the lines begin with the snippet, all of it indented alike.
func (s snippet) at(lines []string) bool {
	if len(lines) < len(s.lines) || !strings.HasSuffix(lines[0], s.lines[0]) {
		return false
	}
	indent := strings.TrimSuffix(lines[0], s.lines[0])
	if strings.TrimLeft(indent, " \t") != "" {
		return false
	}
	for i, want := range s.lines {
		if want != "" {
			want = indent + want
		}
		if lines[i] != want {
			return false
		}
	}
	return true
}
