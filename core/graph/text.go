package graph

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/core/value"
)

const (
	tooDeep         = "too many nested lists and objects for one value"
	notUTF8         = "is not valid UTF-8"
	reservedKey     = `keys that begin with $ are expressions and this is no known one: write a literal object as {"$literal": …}`
	onErrorReserved = "on_error is reserved for error edges of a later version: rename it"
)

func unsupportedVersion(got any) string {
	return fmt.Sprintf("this release reads schema_version %d, not %v: a newer release may have written the document", SchemaVersion, got)
}

func unknownBackoff(got string) string {
	return fmt.Sprintf("%q is no backoff: use constant or exponential", got)
}

// within puts a path that is relative to some part of a document under the
// part's own path.
func within(path, rel string) string {
	switch {
	case path == "":
		return rel
	case rel == "" || rel[0] == '[':
		return path + rel
	default:
		return path + "." + rel
	}
}

// reason is what err says without the place, which the caller's path tells.
func reason(err error) string {
	var at *value.Error
	if errors.As(err, &at) {
		return at.Message
	}
	return err.Error()
}

func unregistered(id string) string {
	return fmt.Sprintf("the registry has no implementation %q: register it, or choose one that is registered", id)
}
