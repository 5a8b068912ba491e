package run_test

import (
	"math"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/run"
)

// TestIdentityGolden pins the composed ids: external systems deduplicate by them.
func TestIdentityGolden(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{run.TaskID("r1", 3, "review"), "r1:3:review"},
		{run.IdempotencyKey("r1", 3, "review", 2), "r1:3:review:2"},
		{run.InterruptID(3, "review", 1), "3:review:1"},
		{run.TaskID("a:1:b", 3, "review"), "a:1:b:3:review"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestIdentity agrees with the two ids it is made of.
func TestIdentity(t *testing.T) {
	for _, id := range []string{"r", "a:b", "é😀", strings.Repeat("x", 255)} {
		for _, step := range []int64{1, 12, math.MaxInt64} {
			task, key := run.Identity(id, step, "node-1", step)
			if task != run.TaskID(id, step, "node-1") || key != run.IdempotencyKey(id, step, "node-1", step) {
				t.Errorf("Identity(%q, %d) = %q, %q", id, step, task, key)
			}
		}
	}
}

// TestTaskIDIsInjective takes apart what was put together, run ids with colons
// included.
func TestTaskIDIsInjective(t *testing.T) {
	seen := map[string][3]any{}
	for _, id := range []string{"r", "r:1", "r:1:a", ":", "r:1:a:2", "é:😀"} {
		for _, step := range []int64{1, 2, 11} {
			for _, node := range []string{"a", "a-1", "1", "b_2"} {
				task := run.TaskID(id, step, node)
				if before, ok := seen[task]; ok {
					t.Fatalf("%v and %v share the task id %q", before, [3]any{id, step, node}, task)
				}
				seen[task] = [3]any{id, step, node}
				r, s, n, ok := run.ParseTaskID(task)
				if !ok || r != id || s != step || n != node {
					t.Errorf("ParseTaskID(%q) = %q, %d, %q, %v", task, r, s, n, ok)
				}
			}
		}
	}
	for _, bad := range []string{"", "a", "a:b", "a:x:b", "a:01:b", "a:+1:b"} {
		if _, _, _, ok := run.ParseTaskID(bad); ok {
			t.Errorf("ParseTaskID(%q) accepts it", bad)
		}
	}
}
