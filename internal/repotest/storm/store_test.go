package storm

import (
	"context"
	"fmt"
	"strings"

	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/ports"
)

// openers open a store by the scheme of its name. Several processes open the same
// name at once.
var openers = map[string]func(ctx context.Context, name string) (ports.Backend, error){
	"sqlite": func(ctx context.Context, name string) (ports.Backend, error) {
		return sqlite.Open(ctx, sqlite.Config{Path: strings.TrimPrefix(name, "sqlite:")})
	},
}

func open(ctx context.Context, name string) (ports.Backend, error) {
	scheme, _, _ := strings.Cut(name, ":")
	opener, ok := openers[scheme]
	if !ok {
		return nil, fmt.Errorf("no opener for the scheme of %q", name)
	}
	return opener(ctx, name)
}
