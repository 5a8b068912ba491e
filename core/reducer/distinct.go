package reducer

import (
	"fmt"

	"github.com/docket-go/docket/core/value"
)

// distinct drops later duplicates from list, in place: it belongs to the
// caller. Elements are told apart by their canonical bytes, which are the same
// exactly when the values are equal, so the cost stays linear. All identities
// are parts of one text, so that an element costs no allocation of its own.
func distinct(list []any, by []any) ([]any, error) {
	var buffer []byte
	ends := make([]int, len(list))
	for i, e := range list {
		var err error
		if buffer, err = appendIdentity(buffer, e, by); err != nil {
			return nil, &Error{CodeInvalidWrite, fmt.Sprintf("element %d has no canonical form: %v", i, err)}
		}
		ends[i] = len(buffer)
	}
	identities, start := string(buffer), 0
	seen := make(map[string]struct{}, len(list))
	kept := list[:0]
	for i, e := range list {
		identity := identities[start:ends[i]]
		start = ends[i]
		if _, dup := seen[identity]; dup {
			continue
		}
		seen[identity] = struct{}{}
		kept = append(kept, e)
	}
	clear(list[len(kept):])
	return kept, nil
}

// appendIdentity appends what makes e the same as another element: the value
// its key or path leads to, else all of it. A mark keeps the two apart.
func appendIdentity(dst []byte, e any, by []any) ([]byte, error) {
	if len(by) == 0 {
		return value.Append(dst, e)
	}
	if key, found := value.Follow(e, by); found {
		return value.Append(append(dst, 'k'), key)
	}
	return value.Append(append(dst, 'w'), e)
}
