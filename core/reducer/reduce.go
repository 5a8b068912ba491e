package reducer

import (
	"fmt"
	"maps"
	"math"

	"github.com/docket-go/docket/core/value"
)

// Codes of an Error.
const (
	CodeSumOverflow  = "sum_overflow"   // an integer sum left int64
	CodeSumNotFinite = "sum_not_finite" // a float sum became infinite
	CodeInvalidWrite = "invalid_write"  // a write ValidateWrite would have refused
	CodeInvalidPrior = "invalid_prior"  // a prior value the reducer can't add to
)

// Error says why writes could not be folded.
type Error struct {
	Code    string
	Message string
}

// Error returns code and message.
func (e *Error) Error() string { return "reducer: " + e.Code + ": " + e.Message }

// Reduce folds writes, which the caller has sorted by writer node id, into the
// prior value; while that is unset, into Default. Without writes it returns
// the prior value or the default as it is.
//
// Nothing that goes in is changed, and the result may share parts with it:
// treat both as immutable. The error is an *Error.
func (f *Field) Reduce(prior value.Optional, writes []any) (value.Optional, error) {
	if !prior.Set {
		prior = f.base
	}
	if len(writes) == 0 {
		return prior, nil
	}
	var out any
	var err error
	switch f.rule.Kind {
	case KindFirstValue:
		if prior.Set {
			return prior, nil
		}
		out = writes[0]
	case KindAppend, KindUnion:
		out, err = f.concatenate(prior.Value, writes)
	case KindMerge:
		out, err = f.merge(prior.Value, writes)
	case KindSum:
		out, err = f.sum(prior.Value, writes)
	default:
		out = writes[len(writes)-1]
	}
	if err != nil {
		return value.Optional{}, err
	}
	return value.Some(out), nil
}

func (f *Field) concatenate(prior any, writes []any) (any, error) {
	list, ok := prior.([]any)
	if !ok {
		return nil, f.badPrior(prior)
	}
	size := len(list)
	for _, w := range writes {
		if elements, ok := w.([]any); ok {
			size += len(elements)
		} else {
			size++
		}
	}
	out := append(make([]any, 0, size), list...)
	for _, w := range writes {
		if elements, ok := w.([]any); ok {
			out = append(out, elements...)
		} else {
			out = append(out, w)
		}
	}
	if f.rule.Unique || f.rule.Kind == KindUnion {
		var err error
		if out, err = distinct(out, f.rule.By); err != nil {
			return nil, err
		}
	}
	if keep := f.rule.MaxLength; keep > 0 && int64(len(out)) > keep {
		// Copied, so that what was dropped isn't kept in memory.
		out = append([]any(nil), out[int64(len(out))-keep:]...)
	}
	return out, nil
}

func (f *Field) merge(prior any, writes []any) (any, error) {
	m, ok := prior.(map[string]any)
	if !ok {
		return nil, f.badPrior(prior)
	}
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	for i, w := range writes {
		fragment, ok := w.(map[string]any)
		if !ok {
			return nil, f.badWrite(i, w)
		}
		if f.rule.Deep {
			mergeInto(out, fragment)
		} else {
			maps.Copy(out, fragment)
		}
	}
	return out, nil
}

// mergeInto folds fragment into owned, a map of ours. A map inside it may be
// someone else's, so it is copied before it takes anything in.
func mergeInto(owned, fragment map[string]any) {
	for key, v := range fragment { // order-free: every key settles its own place
		add, both := v.(map[string]any)
		if both {
			var old map[string]any
			if old, both = owned[key].(map[string]any); both {
				inner := make(map[string]any, len(old)+len(add))
				maps.Copy(inner, old)
				mergeInto(inner, add)
				owned[key] = inner
			}
		}
		if !both {
			owned[key] = v
		}
	}
}

func (f *Field) sum(prior any, writes []any) (any, error) {
	if f.float {
		return f.sumFloats(prior, writes)
	}
	total, ok := prior.(int64)
	if !ok {
		return nil, f.badPrior(prior)
	}
	for i, w := range writes {
		n, ok := w.(int64)
		if !ok {
			return nil, f.badWrite(i, w)
		}
		next := total + n
		if (next > total) != (n > 0) && n != 0 {
			return nil, &Error{CodeSumOverflow, fmt.Sprintf("write %d of %d takes the sum out of int64", i+1, len(writes))}
		}
		total = next
	}
	return total, nil
}

// sumFloats adds in writer order: float addition doesn't associate, so another
// order could give other bits.
func (f *Field) sumFloats(prior any, writes []any) (any, error) {
	total, ok := float(prior)
	if !ok {
		return nil, f.badPrior(prior)
	}
	for i, w := range writes {
		x, ok := float(w)
		if !ok {
			return nil, f.badWrite(i, w)
		}
		if total += x; math.IsInf(total, 0) || math.IsNaN(total) {
			return nil, &Error{CodeSumNotFinite, fmt.Sprintf("write %d of %d takes the sum out of the finite numbers", i+1, len(writes))}
		}
	}
	out, err := value.Normalize(total)
	if err != nil {
		return nil, &Error{CodeSumNotFinite, err.Error()}
	}
	return out, nil
}

func float(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func (f *Field) badPrior(v any) error {
	return &Error{CodeInvalidPrior, fmt.Sprintf("%s can't add to a prior value of Go type %T", f.rule.Kind, v)}
}

func (f *Field) badWrite(i int, v any) error {
	return &Error{CodeInvalidWrite, fmt.Sprintf("%s can't fold write %d, a value of Go type %T", f.rule.Kind, i+1, v)}
}
