package value_test

import (
	"fmt"
	"time"

	"github.com/docket-go/docket/core/value"
)

func Example() {
	type order struct {
		ID    string    `json:"id"`
		Total float64   `json:"total"`
		At    time.Time `json:"at"`
	}
	v, err := value.Normalize(order{ID: "A7", Total: 3.0, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	if err != nil {
		fmt.Println(err)
		return
	}
	data, _ := value.Encode(v)
	fmt.Println(string(data))

	back, _ := value.Decode(data)
	var o order
	fmt.Println(value.Equal(back, v), value.Into(back, &o), o.ID, o.Total)
	// Output:
	// {"at":"2026-01-02T03:04:05Z","id":"A7","total":3}
	// true <nil> A7 3
}

func ExampleNormalize_errors() {
	_, err := value.Normalize(map[string]any{"items": []any{1, map[string]any{"raw": []byte("x")}}})
	fmt.Println(err)
	// Output:
	// value: unsupported_type at items[1].raw: a Go []uint8 is bytes: encode it, for example with base64
}

func ExampleDecode_errors() {
	_, err := value.Decode([]byte(`{"nodes": {"a": 1, "\u0061": 2}}`))
	fmt.Println(err)
	// Output:
	// value: duplicate_key at nodes.a (byte 19): the key was given before
}
