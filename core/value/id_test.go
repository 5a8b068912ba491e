package value

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestCheckID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"x", " a b ", "../x", "Ab", "é", "e\u0301", "😀", "\ufffd", strings.Repeat("x", 255)} {
		if err := CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"", strings.Repeat("x", 256), strings.Repeat("é", 128), "a\nb", "a\x00", "\x7f", "\u0085", "\xff", "\xed\xa0\x80"} {
		wantCode(t, id, CheckID(id), CodeInvalidID)
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a", "0", "A-b_9", strings.Repeat("x", 128)} {
		if err := CheckName(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"", "_a", "-a", "a b", "a.b", "é", "$start", "a\n", strings.Repeat("x", 129), "\xff"} {
		wantCode(t, s, CheckName(s), CodeInvalidID)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{PathKey("", "a"), "a"},
		{PathKey("a", "b-1"), "a.b-1"},
		{PathKey("a[3]", "c"), "a[3].c"},
		{PathKey("a", "x y"), `a["x y"]`},
		{PathKey("", ""), `[""]`},
		{PathKey("", "q\"\n"), `["q\"\n"]`},
		{PathKey("a", "\xff"), "a[\"\ufffd\"]"},
		{PathIndex("a.b", 3), "a.b[3]"},
		{PathIndex("", 0), "[0]"},
		{PathKey("", strings.Repeat("k", 200)), `["` + strings.Repeat("k", 128) + `…"]`},
	} {
		if tt.got != tt.want {
			t.Errorf("got %s, want %s", tt.got, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s    string
		max  int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"abc", 0, ""},
		{"abc", -1, ""},
		{"aé", 2, "a"},
		{"aé", 3, "aé"},
		{"a😀b", 4, "a"},
		{"a\xffb", 10, "a\ufffdb"},
		{"a\xff", 3, "a"},
		{"\xff\xfe", 6, "\ufffd\ufffd"},
		{"\xff\xfe", 5, "\ufffd"},
		{"a\x00b", 3, "a\x00b"},
	} {
		if got := Cut(tt.s, tt.max); got != tt.want || !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.s, tt.max, got, tt.want)
		}
	}
	long := strings.Repeat("é", MaxText)
	if got := Cut("x"+long, MaxText); len(got) != MaxText-1 {
		t.Errorf("got %d bytes", len(got))
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	if got := Time(now); got != now.UTC().Truncate(time.Microsecond).Round(0) || got.Location() != time.UTC {
		t.Errorf("Time(%v) = %v", now, got)
	}
	if !Time(time.Time{}).IsZero() {
		t.Error("the zero time isn't zero")
	}
	old := time.Date(1900, 1, 1, 0, 0, 0, 999999999, time.FixedZone("", -3600))
	for _, tt := range []struct {
		t    time.Time
		want string
	}{
		{old, "1900-01-01T01:00:00.999999Z"},
		{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), "2026-01-01T00:00:00Z"},
		{time.Date(2026, 1, 1, 0, 0, 0, 500e6, time.UTC), "2026-01-01T00:00:00.5Z"},
		{time.Date(2026, 1, 1, 0, 0, 0, 999, time.UTC), "2026-01-01T00:00:00Z"},
		{time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), "0000-01-01T00:00:00Z"},
	} {
		text := FormatTime(tt.t)
		back, err := ParseTime(text)
		if text != tt.want || err != nil || back != Time(tt.t) {
			t.Errorf("%v: %s, %v, %v", tt.t, text, back, err)
		}
	}
	if got, err := ParseTime("2026-01-01T05:45:00.1234567+05:45"); err != nil || FormatTime(got) != "2026-01-01T00:00:00.123456Z" {
		t.Errorf("got %v, %v", got, err)
	}
	for _, s := range []string{"", "2026-01-01", "2026-01-01T1:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00,5Z", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00+24:00", "now\xff"} {
		_, err := ParseTime(s)
		wantCode(t, s, err, CodeMismatch)
	}
	_, err := ParseTime("0000-01-01T00:00:00+01:00")
	wantCode(t, "year -1", err, CodeOutOfRange)
	_, err = ParseTime("9999-12-31T23:59:59-01:00")
	wantCode(t, "year 10000", err, CodeOutOfRange)
}

func TestClone(t *testing.T) {
	t.Parallel()
	if CloneMap(nil) != nil {
		t.Error("nil doesn't stay nil")
	}
	for _, v := range []any{[]any(nil), map[string]any(nil)} {
		if got := Clone(v); !Equal(got, v) || mustEncode(t, got) != mustEncode(t, v) {
			t.Errorf("Clone(%#v) = %#v", v, got)
		}
	}
	r := seeded(t)
	for range 500 {
		v := randomValue(r, 4)
		before := mustEncode(t, v)
		if c := Clone(v); !Equal(c, v) {
			t.Fatalf("%#v", c)
		} else {
			scribble(c)
		}
		if mustEncode(t, v) != before {
			t.Fatalf("the clone shares a container: %s", before)
		}
	}
}

// scribble changes every container of v in place.
func scribble(v any) {
	switch x := v.(type) {
	case []any:
		for i := range x {
			scribble(x[i])
			x[i] = "scribbled"
		}
	case map[string]any:
		for _, k := range Keys(x) {
			scribble(x[k])
			x[k] = "scribbled"
		}
		x["scribbled"] = true
	}
}
