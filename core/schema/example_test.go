package schema_test

import (
	"fmt"

	"github.com/docket-go/docket/core/schema"
)

func ExampleValidator_Validate() {
	v, err := schema.Compile(schema.Object(map[string]schema.Schema{
		"name": schema.String().Require().Length(1, 80),
		"tags": schema.List(schema.String()),
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, reason := range v.Validate(map[string]any{"tags": []any{"a", int64(1)}, "nam": "Ada"}) {
		fmt.Println(reason)
	}
	// Output:
	// name: a value is required
	// tags[1]: must be of type string, is an integer
	// nam: is not a declared field
}

func ExampleSchema_Check() {
	for _, reason := range schema.List(schema.Integer().Between(5, 1)).Check() {
		fmt.Println(reason)
	}
	// Output: item.max: max is below min
}
