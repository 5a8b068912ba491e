// Package reducer folds the writes of a superstep into a state field.
//
//	f, err := reducer.Compile(reducer.Append().OnlyUnique(), schema.List(schema.String()))
//	next, err := f.Reduce(value.Some([]any{"a"}), []any{"b", []any{"a", "c"}}) // [a b c]
//
// A Reducer is data, part of the graph document (ToMap, FromMap). Compile binds
// it to the field's schema: the Field checks single writes (ValidateWrite),
// folds them (Reduce), and checks what is committed (Validate).
//
// # Invariants
//
//   - The result depends on the prior value and on the writes in the order of
//     their writers' node ids, never on arrival. The caller sorts.
//   - null is a write; a field that wasn't written is not mentioned. An empty
//     list or map changes nothing and still counts as a write.
//   - While a field has no value, its default is the base; accumulating kinds
//     (append, union, merge, sum) without one start from [] {} 0. They refuse an
//     explicit null default: there is nothing to add to. For last_value and
//     first_value an explicit null default is a value like another.
//   - Folding all writes at once equals folding them one after the other, save
//     for append with both unique and max_length: what fell out of the window is
//     forgotten and may come back. A sum that leaves its range fails at the write
//     that does so, even if a later one would bring it back.
//   - Nothing that goes in is changed. Results share parts with what went in, so
//     both are immutable from then on.
//
// # What it does not do
//
// It doesn't know versions, writers or resets: a reset is the machine's, which
// puts Default back. Deep merges relax required fields at the top of a fragment
// only; nested objects are validated whole.
package reducer
