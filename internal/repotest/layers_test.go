package repotest

import (
	"path"
	"strings"
	"testing"
)

func TestArrows(t *testing.T) {
	t.Parallel()
	all, err := imports(mustRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("read only %d imports: the tree wasn't found", len(all))
	}
	for _, i := range all {
		if wrong := checkArrow(i); wrong != "" {
			t.Error(wrong)
		}
	}
}

// TestArrowsRefuse proves that the rule can fail: each row is an import that
// must never be.
func TestArrowsRefuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, to, says string }{
		{"core/value/x.go", "docket/ports", "core must not see ports"},
		{"core/value/x_test.go", "docket/ports", "core must not see ports"},
		{"core/value/x.go", "github.com/google/uuid", "doesn't list"},
		{"core/value/x_test.go", "github.com/google/go-cmp/cmp", "doesn't list"},
		{"core/value/x.go", "docket/core/schema", "core's order"},
		{"core/guard/x.go", "docket/core/reducer", "core's order"},
		{"core/compiler/x.go", "docket/core/run", "core's order"},
		{"core/telemetry/x.go", "docket/core/value", "no place"},
		{"ports/x.go", "docket/engine", "ports must not see engine"},
		{"ports/x.go", "docket/core/runtime", "stores records"},
		{"ports/x.go", "golang.org/x/sync/errgroup", "doesn't list"},
		{"engine/x.go", "docket/adapters/memory", "engine must not see adapters/memory"},
		{"engine/x_test.go", "docket/adapters/memory", "engine must not see adapters/memory"},
		{"engine/x_test.go", "docket/conformance", "engine must not see conformance"},
		{"engine/x.go", "go.opentelemetry.io/otel/sdk/trace", "doesn't list"},
		{"adapters/memory/x.go", "docket/engine", "adapters/memory must not see engine"},
		{"adapters/memory/x_test.go", "docket/engine", "adapters/memory must not see engine"},
		{"adapters/memory/x.go", "docket/adapters/pgx", "must not see adapters/pgx"},
		{"adapters/memory/x.go", "docket/conformance", "must not see conformance"},
		{"adapters/memory/x.go", "docket/core/compiler", "stores records"},
		{"adapters/pgx/x_test.go", "github.com/stretchr/testify/assert", "doesn't list"},
		{"conformance/x.go", "docket/adapters/memory", "must not see adapters/memory"},
		{"conformance/x_test.go", "docket/adapters/memory", "must not see adapters/memory"},
		{"conformance/x.go", "docket/engine", "must not see engine"},
		{"cmd/docket/x.go", "docket/cmd/conformance-runner", "must not see cmd/conformance-runner"},
		{"cmd/docket/x.go", "docket/internal/repotest", "must not see internal/repotest"},
		{"examples/approval/x.go", "docket/cmd/docket", "must not see cmd/docket"},
		{"plugins/x.go", "docket/core/value", "no layer"},
		{"engine/x.go", "docket/plugins", "no layer"},
	} {
		wrong := checkArrow(fakeImport(c.file, c.to))
		if !strings.Contains(wrong, c.says) {
			t.Errorf("%s importing %s: %q, want it to say %q", c.file, c.to, wrong, c.says)
		}
	}
}

func TestArrowsAllow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, to string }{
		{"core/value/x.go", "encoding/json"},
		{"core/schema/x.go", "docket/core/value"},
		{"core/schema/x_test.go", "docket/core/schema"},
		{"ports/portstest/x.go", "docket/ports"},
		{"ports/x.go", "docket/core/record"},
		{"engine/x.go", "docket/core/compiler"},
		{"engine/x.go", "go.opentelemetry.io/otel/metric/noop"},
		{"engine/x_test.go", "go.opentelemetry.io/otel/sdk/trace/tracetest"},
		{"adapters/memory/x_test.go", "docket/conformance"},
		{"adapters/memory/x_test.go", "docket/core/runtime"},
		{"adapters/pgx/internal/sql/x.go", "docket/adapters/pgx"},
		{"conformance/model/x.go", "docket/conformance"},
		{"cmd/docket/x.go", "docket/adapters/memory"},
		{"cmd/docket/x.go", "github.com/spf13/cobra"},
		{"internal/repotest/x_test.go", "docket/engine"},
	} {
		if wrong := checkArrow(fakeImport(c.file, c.to)); wrong != "" {
			t.Error(wrong)
		}
	}
}

func fakeImport(file, to string) anImport {
	if rest, ours := strings.CutPrefix(to, "docket/"); ours {
		to = modulePrefix + rest
	}
	return anImport{File: file, Line: 1, From: modulePrefix + path.Dir(file), To: to, Test: isTest(file)}
}

func mustRoot(t *testing.T) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
