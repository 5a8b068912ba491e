package engine

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/ports"
)

// document opens one of the repository's documents. A module that was downloaded
// alone has none to compare with.
func document(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "docs", name))
	if _, outside := os.Stat(filepath.Join("..", "go.work")); outside != nil {
		t.Skip("not in the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// optionTable reads docs/options.md: option → default.
func optionTable(t *testing.T) map[string]string {
	t.Helper()
	table := map[string]string{}
	for lines := bufio.NewScanner(document(t, "options.md")); lines.Scan(); {
		cells := strings.Split(lines.Text(), "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		name := strings.Trim(strings.TrimSpace(cells[1]), "`")
		if _, twice := table[name]; twice {
			t.Errorf("docs/options.md has %s twice", name)
		}
		if len(strings.TrimSpace(cells[3])) < 20 {
			t.Errorf("docs/options.md doesn't say what %s does", name)
		}
		table[name] = strings.TrimSpace(cells[2])
	}
	return table
}

func TestOptionTableIsTheCode(t *testing.T) {
	t.Parallel()
	table := optionTable(t)
	resolved := reflect.ValueOf(Config{}.withDefaults())
	for i := range resolved.NumField() {
		name := resolved.Type().Field(i).Name
		text, ok := table[name]
		if !ok {
			t.Errorf("Config.%s isn't in docs/options.md", name)
			continue
		}
		delete(table, name)
		literal, isLiteral := strings.CutPrefix(text, "`")
		if !isLiteral || name == "Logger" {
			continue
		}
		if got := fmt.Sprint(resolved.Field(i).Interface()); got != strings.TrimSuffix(literal, "`") {
			t.Errorf("Config.%s defaults to %s, docs/options.md says %s", name, got, text)
		}
	}
	for name := range table {
		t.Errorf("docs/options.md has %s, which Config hasn't", name)
	}
}

func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	for _, ttl := range []time.Duration{0, 100 * time.Millisecond, time.Second, 2 * time.Second, time.Minute, 24 * time.Hour} {
		if err := (Config{ClaimTTL: ttl}).withDefaults().validate(ports.Capabilities{}); err != nil {
			t.Errorf("ClaimTTL %s with all defaults: %v", ttl, err)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg  Config
		caps ports.Capabilities
		want []string
	}{
		{cfg: Config{Tenancy: "x"}, want: []string{"Tenancy"}},
		{cfg: Config{Mode: "x"}, want: []string{"Mode"}},
		{cfg: Config{Wake: "x"}, want: []string{"Wake"}},
		{cfg: Config{Admission: "x"}, want: []string{"Admission"}},
		{cfg: Config{Admission: Unfair}, want: []string{"Admission"}},
		{cfg: Config{Tenancy: TenancyRequired}, want: []string{"Admission", "Unfair"}},
		{cfg: Config{Clock: time.Now}, want: []string{"Clock"}},
		{cfg: Config{Slots: -1}, want: []string{"Slots", "MaxAbandoned"}},
		{cfg: Config{Renewal: 21 * time.Second}, want: []string{"Renewal", "ClaimTTL"}},
		{cfg: Config{StoreTimeout: 20 * time.Second, ShutdownGrace: time.Minute}, want: []string{"StoreTimeout"}},
		{cfg: Config{Poll: time.Minute}, want: []string{"Poll"}},
		{cfg: Config{ShutdownGrace: 10 * time.Second}, want: []string{"ShutdownGrace"}},
		{cfg: Config{AbandonBackoff: time.Hour, AbandonMaxBackoff: time.Minute}, want: []string{"AbandonMaxBackoff"}},
		{cfg: Config{AttemptMax: -1}, want: []string{"AttemptMax"}},
		{cfg: Config{MaxRunBytes: 17 << 20}, want: []string{"MaxRunBytes"}},
		{cfg: Config{MaxEventBytes: 2 << 20}, want: []string{"MaxEventBytes"}},
		{cfg: Config{MaxSupersteps: -1}, want: []string{"MaxSupersteps"}},
		{cfg: Config{RunPage: 1001}, want: []string{"RunPage"}},
		{cfg: Config{Observers: []Observer{nil}}, want: []string{"Observers[0]"}},
		{cfg: Config{CacheNamespace: "a\nb"}, want: []string{"CacheNamespace"}},
		{cfg: Config{Retention: &Retention{Runs: time.Hour}}, want: []string{"Retention", "can't prune"}},
		{cfg: Config{Retention: &Retention{}}, caps: ports.Capabilities{Pruner: true}, want: []string{"Retention"}},
		{cfg: Config{Retention: &Retention{Runs: time.Hour, Events: 2 * time.Hour}}, caps: ports.Capabilities{Pruner: true}, want: []string{"Events"}},
		{cfg: Config{Retention: &Retention{Runs: time.Hour, Every: -1}}, caps: ports.Capabilities{Pruner: true}, want: []string{"Every"}},
		// All problems at once.
		{cfg: Config{Slots: -1, Poll: 2 * time.Minute, Mode: "x"}, want: []string{"Slots", "Poll", "Mode"}},
	} {
		err := c.cfg.withDefaults().validate(c.caps)
		if CodeOf(err) != CodeInvalidConfig {
			t.Errorf("%+v: %v", c.cfg, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v doesn't tell about %s", err, part)
			}
		}
	}
}
