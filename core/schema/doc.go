// Package schema describes and checks values: the inputs, state fields,
// outputs, node configs and interrupt answers of a graph.
//
//	v, err := schema.Compile(schema.Object(map[string]schema.Schema{
//		"name": schema.String().Require().Length(1, 80),
//		"tags": schema.List(schema.String()).WithDefault([]any{}),
//	}))
//	reasons := v.Validate(x) // nil: valid
//
// A Schema is data: it is built with constructors or read from a document
// (FromMap), edited, compared, and written back (ToMap); FromMap(ToMap(s))
// equals s. Check says whether it makes sense; Compile turns it into a
// Validator. JSONSchema exports it for other tools.
//
// # Invariants
//
//   - Values are normalised values (package value, ADR 0003): bounds, enums and
//     defaults compare by exact value, never by Go type.
//   - null is valid unless the schema is required. For an object's field,
//     required also refuses absence.
//   - Validation reports every reason with its path, in a stable order, and
//     never quotes the value, because reasons become durable failures.
//   - A Validator is immutable and safe for concurrent use.
//   - Unknown constraints of a document are kept and ignored.
//
// # What it does not do
//
// It converts nothing: text that looks like a number is text. It follows no
// references, so a schema can't describe recursive data; use a map there.
package schema
