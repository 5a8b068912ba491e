package repotest

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	dir := mustRoot(t)
	docs := documents(t, dir)
	for _, needed := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/contract.md", "docs/adr/README.md"} {
		if _, ok := docs[needed]; !ok {
			t.Errorf("%s is missing", needed)
		}
	}
	for _, wrong := range checkLinks(docs, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil
	}) {
		t.Error(wrong)
	}
	for _, d := range docs {
		for _, wrong := range checkQuotes(d, func(name string) (string, error) {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			return string(text), err
		}) {
			t.Error(wrong)
		}
	}
	if len(docs["README.md"].quotes) == 0 {
		t.Error("README.md quotes no source: its code would rot")
	}
}

// TestDocumentsRefuse proves that the rules can fail.
func TestDocumentsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, says string }{
		{"a file that isn't there", "see [it](docs/none.md)", "docs/none.md, which doesn't exist"},
		{"a heading that isn't there", "# One\nsee [it](#two)", "no such heading"},
		{"a heading of another file", "see [it](other.md#nowhere)", "no such heading"},
		{"a quote that changed", "<!-- quoted from a.go -->\n```go\nx := 2\n```", "doesn't say that"},
		{"half a line", "<!-- quoted from a.go -->\n```go\nx := \n```", "doesn't say that"},
		{"an empty quote", "<!-- quoted from a.go -->\n```go\n```", "doesn't say that"},
		{"a source that isn't there", "<!-- quoted from b.go -->\n```go\nx := 1\n```", "b.go"},
	} {
		if got := checkFake(c.text); !strings.Contains(got, c.says) {
			t.Errorf("%s: %q, want it to say %q", c.name, got, c.says)
		}
	}
	for _, good := range []string{
		"see [it](other.md#some-heading), [here](#one-two), `[no](link)`, [web](https://example.org/x)\n## One, two!",
		"```\n[in code](nowhere.md)\n```\n[dir](docs)",
		"<!-- quoted from a.go -->\n```go\nx := 1\ny := 2\n```",
	} {
		if got := checkFake(good); got != "" {
			t.Errorf("%q: %s", good, got)
		}
	}
}

func checkFake(text string) string {
	docs := map[string]document{
		"README.md": parseDocument("README.md", text),
		"other.md":  parseDocument("other.md", "# Some heading"),
	}
	wrong := checkLinks(docs, func(name string) bool { return name == "docs" })
	return strings.Join(append(wrong, checkQuotes(docs["README.md"], func(name string) (string, error) {
		if name != "a.go" {
			return "", os.ErrNotExist
		}
		return "func f() {\n\tx := 1\n\ty := 2\n}\n", nil
	})...), "\n")
}

func documents(t *testing.T, dir string) map[string]document {
	t.Helper()
	names, err := files(dir, func(name string) bool { return path.Ext(name) == ".md" && !strings.Contains(name, "testdata/") })
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]document{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		docs[name] = parseDocument(name, string(text))
	}
	return docs
}
