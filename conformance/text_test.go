package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// complaint is what a case says of two values.
func complaint(t *testing.T, want, got any) string {
	t.Helper()
	r := newTrial(t.Context())
	newEnv(r, Harness{}, Case{}, 1).same(want, got, "it")
	return strings.Join(r.failures, "\n")
}

func TestDifferencesAreShort(t *testing.T) {
	t.Parallel()
	type named string
	type pair struct {
		Names []string
		Of    map[string]int
	}
	long := []byte(padding(4000))
	a, b := record.Sum([]byte("a")), record.Sum([]byte("b"))
	alike := a
	alike[31] ^= 1 // its first digits are those of a
	const head = "it differs (want → got):\n"
	for _, c := range []struct {
		want, got any
		says      string
	}{
		{1, 1, ""},
		{0, 1, "it: got 1, want 0"},
		{true, false, "it: got false, want true"},
		{"a", "b\n", `it: got "b\n", want "a"`},
		{named("a"), named("b"), `it: got "b", want "a"`},
		{time.Second, time.Minute, "it: got 1m0s, want 1s"},
		{a, b, "it: got 3e23e8160039…, want ca978112ca1b…"},
		{epoch, epoch.In(time.FixedZone("elsewhere", 3600)), ""},
		{epoch, epoch.Add(time.Second), head + "T → T+1s"},
		{record.Run{Checksum: a}, record.Run{Checksum: b}, head + "Checksum: ca978112ca1b… → 3e23e8160039…"},
		{record.Run{Checksum: a}, record.Run{Checksum: alike}, head + "Checksum: " + a.String() + " → " + alike.String()},
		{record.Run{Document: long}, record.Run{Document: long[1:]},
			head + "Document: " + showBytes(long) + " → " + showBytes(long[1:])},
		{record.Run{Document: []byte("{\x00")}, record.Run{}, head + `Document: "{\x00" → nil`},
		{[]string{"a", "x"}, []string{"b", "x"}, head + `[0]: "a" → "b"`},
		{[]string(nil), []string{}, head + "nil → []"},
		{pair{Names: []string{"a"}}, pair{Names: []string{"a", "b"}}, head + `Names[1]: absent → "b"`},
		{pair{Of: map[string]int{"a": 1}}, pair{Of: map[string]int{"a": 2}}, head + `Of["a"]: 1 → 2`},
		{ports.Poison{}, ports.Poison{At: epoch, Reason: "x"}, head + "At: zero → T\nReason: \"\" → \"x\""},
		{nil, 1, head + "absent → 1"},
		{1, "1", head + "1 → \"1\""},
		{make([]int, 99), slices.Repeat([]int{1}, 99), "… and 75 more"},
	} {
		got := complaint(t, c.want, c.got)
		if c.says != got && (!strings.HasPrefix(c.says, "…") || !strings.HasSuffix(got, c.says)) {
			t.Errorf("of %v and %v it says\n%s\nwant\n%s", c.want, c.got, got, c.says)
		}
	}
}

// A call is one line that a screen holds; of a long one the answer stays.
func TestCallsAreCut(t *testing.T) {
	t.Parallel()
	request := ports.FetchRun{Scope: ports.Tenant("é" + padding(60)), RunID: padding(60)}
	for _, c := range []struct {
		request, answer any
		err             error
		says            string
	}{
		{request, ports.Committed{Now: epoch}, nil, " → {Now:T}"},
		{[]ports.FetchRun{request, request}, nil, nil, "… → ok"},
		{[]ports.FetchRun{request, request}, nil, errors.Join(ports.ErrStale, errors.New("moved")), "… → error: docket: fence moved; moved"},
		{[]ports.FetchRun{request, request}, []ports.FetchRun{request, request}, nil, "…"},
		{nil, []ports.FetchRun{request, request}, nil, "Op → [{Scope"},
	} {
		var log opLog
		log.end(log.begin("peer", "Op", c.request), c.answer, c.err)
		line := log.lines()[0]
		if n := utf8.RuneCountInString(line); n > callWidth+len("#1 ") || !utf8.ValidString(line) {
			t.Errorf("%d characters: %s", n, line)
		}
		if !strings.Contains(line, c.says) || strings.Contains(line, "\n") {
			t.Errorf("the line lacks %q: %s", c.says, line)
		}
	}
}

func TestRecordsAreShownInShort(t *testing.T) {
	t.Parallel()
	r := subject{run: record.Run{ID: "r", StartedAt: epoch, Step: -1}}
	r.apply(r.next(epoch, change{Type: runInitialized}))
	wait := r.next(epoch, change{Status: waiting, Pad: 100})
	end := r.next(epoch, change{Status: done, Events: 1})
	sleep := r.next(epoch, change{Kind: record.ScheduleAt, At: epoch.Add(time.Hour)})
	for want, v := range map[string]any{
		`{"r" seq 1 running/run_initialized step 0 events 2 at T, ` + showBytes(r.run.Document) + `}`:                                                     r.run,
		`{"r" seq 2 waiting/interrupt_requested step 0 events 4 at T interrupts 1 then external, 2 events, ` + showBytes(wait.Run.Document) + `}`:         wait,
		`{"r" seq 2 done/run_completed step 1 events 3 at T finished T then terminal, 1 events, ` + showBytes(end.Run.Document) + `}`:                     end,
		`{"r" seq 2 running/step_committed step 1 events 4 at T then at T+1h0m0s, 2 events, ` + showBytes(sleep.Run.Document) + `}`:                       sleep,
		`{"r" #3 checkpoint_committed step 1 ` + showBytes(end.Events[0].Payload) + ` at T}`:                                                              end.Events[0],
		`{Owner:{Tenant:"acme"} Run:{"r" seq 1 running/run_initialized step 0 events 2 at T, ` + showBytes(r.run.Document) + `} Token:"t" ClaimEnd:T-1s}`: ports.Lease{Owner: acme, Run: r.run, Token: "t", ClaimEnd: epoch.Add(-time.Second)},
	} {
		if got := show(v); got != want {
			t.Errorf("shown as\n%s\nwant\n%s", got, want)
		}
	}
}

func TestTextHasNoTrailingBlanks(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Results[1].Failures = []string{"it differs:\n  a\n\n  b \n", complaint(t, []string{"a", ""}, []string{"b", ""})}
	var text strings.Builder
	if err := errors.Join(r.WriteCases(&text), r.WriteText(&text)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if line = strings.TrimSuffix(line, "\n"); strings.TrimRight(line, " \t") != line {
			t.Errorf("trailing blanks: %q", line)
		}
	}
}

// Progress is one line that is written over and taken back, and nothing at all
// where that can't be done.
func TestProgress(t *testing.T) {
	t.Parallel()
	var screen, file strings.Builder
	p := &Progress{w: &screen, name: "paper"}
	p.Tell(1, 3, Result{ID: "a/1", Outcome: Pass})
	p.Tell(2, 3, Result{ID: "b/" + padding(100), Outcome: Fail})
	p.Clear()
	lines := strings.Split(screen.String(), "\r\x1b[K")
	if len(lines) != 4 || lines[1] != "paper 1/3  a/1" || !strings.HasPrefix(lines[2], "paper 2/3, 1 failed  b/") || lines[3] != "" {
		t.Errorf("it shows %q", lines)
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n >= textWidth {
			t.Errorf("a line of %d characters wraps: %q", n, line)
		}
	}
	off := NewProgress(&file, "paper")
	off.Tell(1, 1, Result{ID: "a/1", Outcome: Pass})
	if off.Clear(); file.Len() > 0 {
		t.Errorf("what is no terminal got %q", file.String())
	}
}
