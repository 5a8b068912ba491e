package guard_test

import (
	"fmt"

	"github.com/docket-go/docket/core/guard"
	"github.com/docket-go/docket/core/value"
)

type fields map[string]guard.Cell

func (f fields) Cell(name string) (guard.Cell, bool) {
	cell, known := f[name]
	return cell, known
}

func ExampleGuard_Eval() {
	g := guard.All(
		guard.Changed("review"),
		guard.Equals(guard.Path("review", "verdict"), "approve"),
	)
	holds, err := g.Eval(fields{"review": {
		Value:   value.Some(map[string]any{"verdict": "approve"}),
		Version: 1,
		Changed: true,
	}})
	fmt.Println(g, holds, err)
	// Output: all(changed(review), equals(review.verdict, "approve")) true <nil>
}
