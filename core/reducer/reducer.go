package reducer

import (
	"slices"

	"github.com/docket-go/docket/core/value"
)

// Kind names how a field folds writes into its prior value.
type Kind string

// The kinds of reducer. The empty Kind is KindLastValue.
const (
	KindLastValue  Kind = "last_value"
	KindFirstValue Kind = "first_value"
	KindAppend     Kind = "append"
	KindUnion      Kind = "union"
	KindMerge      Kind = "merge"
	KindSum        Kind = "sum"
)

// Kinds returns every kind, in declaration order.
func Kinds() []Kind {
	return []Kind{KindLastValue, KindFirstValue, KindAppend, KindUnion, KindMerge, KindSum}
}

// Reducer says how a state field folds a superstep's writes into its prior
// value. The zero Reducer keeps the last write.
type Reducer struct {
	Kind      Kind
	Unique    bool  // append: drop duplicates, the first wins
	MaxLength int64 // append: keep the last n, after Unique; 0 keeps all
	By        []any // union: key or path (string and int64 segments) that identifies an element
	Deep      bool  // merge: maps inside maps are merged, too
}

// Last keeps the last write: the one of the greatest writer node id.
func Last() Reducer { return Reducer{Kind: KindLastValue} }

// First keeps the first value ever; an explicit default counts as set.
func First() Reducer { return Reducer{Kind: KindFirstValue} }

// Append adds writes at the end of a list.
func Append() Reducer { return Reducer{Kind: KindAppend} }

// Union adds writes at the end of a list, then drops duplicates. Elements are
// the same when they are equal or, given a key or path, when what it leads to
// is equal.
func Union(by ...any) Reducer {
	r := Reducer{Kind: KindUnion}
	for _, segment := range by {
		if n, err := value.Normalize(segment); err == nil {
			segment = n
		}
		r.By = append(r.By, segment)
	}
	return r
}

// Merge folds map fragments into a map, key by key.
func Merge() Reducer { return Reducer{Kind: KindMerge} }

// DeepMerge folds map fragments into a map; where both sides hold a map, these
// are merged in turn.
func DeepMerge() Reducer { return Reducer{Kind: KindMerge, Deep: true} }

// Sum adds numbers.
func Sum() Reducer { return Reducer{Kind: KindSum} }

// OnlyUnique returns r with duplicates dropped (append).
func (r Reducer) OnlyUnique() Reducer {
	r.Unique = true
	return r
}

// KeepLast returns r with only the last n elements kept (append).
func (r Reducer) KeepLast(n int64) Reducer {
	r.MaxLength = n
	return r
}

// Clone returns a copy that shares nothing mutable with r.
func (r Reducer) Clone() Reducer {
	r.By = slices.Clone(r.By)
	return r
}

// Equal reports whether r and o fold alike. The empty kind is last_value.
func (r Reducer) Equal(o Reducer) bool {
	return r.kind() == o.kind() && r.Unique == o.Unique && r.MaxLength == o.MaxLength &&
		r.Deep == o.Deep && slices.EqualFunc(r.By, o.By, value.Equal)
}

func (r Reducer) kind() Kind {
	if r.Kind == "" {
		return KindLastValue
	}
	return r.Kind
}
