package postgres

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	b := openOn(t, open(t, freshDatabase(t, ""), 1), Config{})
	fill(t, b, *planRuns)
	if _, err := b.pool.Exec(t.Context(), b.place.sql("UPDATE docket.docket_runs SET status='running', finished_at=NULL, wake_at=started_at, open_interrupts=0 WHERE status <> 'running'")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.pool.Exec(t.Context(), "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
	for _, expired := range []bool{false, true} {
		for _, limit := range []int{1, 10, 1000} {
			for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
				p := explain(t, b, mode, planned{sql: b.sql.claim, args: []any{epoch, limit, int64(5), expired, time.Minute}})
				var top []map[string]any
				_ = json.Unmarshal([]byte(p.text), &top)
				fmt.Println(expired, limit, mode, p.touched(), p.shape(), top[0]["Planning Time"], top[0]["Execution Time"], top[0]["Plan"].(map[string]any)["Total Cost"])
			}
		}
	}
}
