package storm

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	postgres "github.com/docket-go/docket/adapters/pgx"
	sqlite "github.com/docket-go/docket/adapters/sqlite-experimental"
	"github.com/docket-go/docket/ports"
)

// openers open a store by the scheme of its name. Several processes open the same
// name at once.
var openers = map[string]func(ctx context.Context, name string) (ports.Backend, error){
	"postgres": openPostgres,
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

// openPostgres opens the default schema of a URL's database, whose tables are
// there after the first one who asks. The pool ends with the process.
func openPostgres(ctx context.Context, name string) (ports.Backend, error) {
	pool, err := pgxpool.New(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := postgres.Migrate(ctx, pool, ""); err != nil {
		pool.Close()
		return nil, err
	}
	backend, err := postgres.New(ctx, pool, postgres.Config{})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return pooled{backend, pool}, nil
}

// pooled closes its pool too, so that a test's database can be dropped.
type pooled struct {
	*postgres.Backend
	pool *pgxpool.Pool
}

func (p pooled) Close() error {
	err := p.Backend.Close()
	p.pool.Close()
	return err
}
