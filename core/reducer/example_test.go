package reducer_test

import (
	"fmt"

	"github.com/docket-go/docket/core/reducer"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

func ExampleField_Reduce() {
	f, err := reducer.Compile(reducer.Append().OnlyUnique(), schema.List(schema.String()))
	if err != nil {
		fmt.Println(err)
		return
	}
	next, err := f.Reduce(value.Some([]any{"a"}), []any{"b", []any{"a", "c"}})
	fmt.Println(next.Value, err)
	// Output: [a b c] <nil>
}

func ExampleUnion() {
	f, err := reducer.Compile(reducer.Union("id"), schema.List(schema.Map()))
	if err != nil {
		fmt.Println(err)
		return
	}
	next, err := f.Reduce(value.Optional{}, []any{
		map[string]any{"id": int64(7), "name": "first"},
		map[string]any{"id": int64(7), "name": "second"},
	})
	fmt.Println(next.Value, err)
	// Output: [map[id:7 name:first]] <nil>
}
