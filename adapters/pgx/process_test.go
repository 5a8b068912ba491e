package postgres

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
)

// These make the test binary play another process.
const (
	roleVariable   = "DOCKET_POSTGRES_TEST_ROLE"
	urlVariable    = "DOCKET_POSTGRES_TEST_URL"
	schemaVariable = "DOCKET_POSTGRES_TEST_SCHEMA"
)

func playRole(role string) int {
	ctx := context.Background()
	var err error
	switch role {
	case "migrate":
		err = playMigrate(ctx)
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func playMigrate(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, os.Getenv(urlVariable))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return Migrate(ctx, conn, os.Getenv(schemaVariable))
}
