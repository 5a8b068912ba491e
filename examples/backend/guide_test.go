package backend

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/docket-go/docket/conformance"
)

var (
	fence  = regexp.MustCompile("(?m)^(.*)\n```([a-z]+)\n")
	caseID = regexp.MustCompile("`([a-z]+/[a-z-]+)`")
	clause = regexp.MustCompile(`\b[A-Z]{2,3}-[0-9]+\b`)
)

// TestGuide reads the guide that goes through this example. That its quotes are
// true is tested with all documents; here, that it quotes at all, and names no
// case or clause that isn't there and leaves out no hook.
func TestGuide(t *testing.T) {
	t.Parallel()
	guide := readDoc(t, "backend-authors.md")
	quotes := 0
	for _, m := range fence.FindAllStringSubmatch(guide, -1) {
		if m[2] == "sh" {
			continue
		}
		if quotes++; !strings.HasPrefix(m[1], "<!-- quoted from ") {
			t.Errorf("the %s block after %q says not where it is from", m[2], m[1])
		}
	}
	if quotes < 8 {
		t.Errorf("the guide quotes only %d blocks: is the test reading it right?", quotes)
	}
	cases := map[string]bool{}
	for _, c := range conformance.Cases() {
		cases[c.ID] = true
	}
	for _, m := range caseID.FindAllStringSubmatch(guide, -1) {
		_, err := os.Stat(filepath.Join("..", "..", m[1]))
		if !cases[m[1]] && err != nil { // a case's ID looks like a folder
			t.Errorf("the suite has no case %s", m[1])
		}
	}
	for field := range reflect.TypeFor[conformance.Harness]().Fields() {
		if !strings.Contains(guide, "`"+field.Name+"`") && !strings.Contains(guide, "`Harness."+field.Name+"`") && field.Name != "Name" {
			t.Errorf("the guide doesn't tell about Harness.%s", field.Name)
		}
	}
	contract := readDoc(t, "contract.md")
	for _, c := range clause.FindAllString(guide, -1) {
		if c != "UTF-8" && !strings.Contains(contract, "**"+c+"**") {
			t.Errorf("the contract has no clause %s", c)
		}
	}
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
