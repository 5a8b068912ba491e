package value

import "testing"

func TestFollow(t *testing.T) {
	t.Parallel()
	v := map[string]any{"a": []any{int64(1), map[string]any{"b": nil}}}
	for _, c := range []struct {
		path []any
		want any
		ok   bool
	}{
		{nil, v, true},
		{[]any{"a", int64(0)}, int64(1), true},
		{[]any{"a", int64(1), "b"}, nil, true},
		{[]any{"a", int64(2)}, nil, false},
		{[]any{"a", int64(-1)}, nil, false},
		{[]any{"a", "0"}, nil, false},
		{[]any{int64(0)}, nil, false},
		{[]any{"c"}, nil, false},
		{[]any{"a", int64(1), "b", "c"}, nil, false},
		{[]any{1.5}, nil, false},
	} {
		if got, ok := Follow(v, c.path); ok != c.ok || !Equal(got, c.want) {
			t.Errorf("%v: %v, %v, want %v, %v", c.path, got, ok, c.want, c.ok)
		}
	}
}
