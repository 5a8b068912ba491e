package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	"github.com/docket-go/docket/ports"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// schemaVersion is the newest schema this build knows: schema/0001.sql up to
// this number are applied in order.
const schemaVersion = 1

// A SchemaError says that the file's schema is newer than this build: it is
// left alone. It is ports.ErrUnsupported.
type SchemaError struct {
	Path string
	Have int64 // the file's version
	Want int64 // the newest version this build knows
}

// Error names the file, both versions and what to do.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("sqlite: %s has schema version %d, this build knows up to %d: upgrade docket's sqlite adapter", e.Path, e.Have, e.Want)
}

// Unwrap makes the error ports.ErrUnsupported.
func (e *SchemaError) Unwrap() error { return ports.ErrUnsupported }

// migrate brings the file's schema up to schemaVersion in one transaction of
// its own. Processes that start together wait for each other in BEGIN IMMEDIATE
// and then find nothing to do.
func migrate(ctx context.Context, conn *sql.Conn, path string) (err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	defer func() {
		if err != nil {
			_, rollback := conn.ExecContext(ctx, "ROLLBACK")
			err = errors.Join(err, rollback)
		}
	}()
	have, err := currentVersion(ctx, conn)
	if err != nil {
		return err
	}
	if have > schemaVersion {
		return &SchemaError{Path: path, Have: have, Want: schemaVersion}
	}
	for v := have + 1; v <= schemaVersion; v++ {
		if err := apply(ctx, conn, v); err != nil {
			return fmt.Errorf("schema version %d: %w", v, err)
		}
	}
	_, err = conn.ExecContext(ctx, "COMMIT")
	return err
}

// currentVersion is the file's schema version, 0 for a new file. The version
// has a table of its own: user_version belongs to whoever owns the file, and
// that may be the host.
func currentVersion(ctx context.Context, conn *sql.Conn) (int64, error) {
	if _, err := conn.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS docket_schema (version INTEGER NOT NULL) STRICT`); err != nil {
		return 0, err
	}
	var version int64
	err := conn.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM docket_schema`).Scan(&version)
	return version, err
}

func apply(ctx context.Context, conn *sql.Conn, version int64) error {
	script, err := schemaFiles.ReadFile(fmt.Sprintf("schema/%04d.sql", version))
	if err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, string(script)); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `INSERT INTO docket_schema (version) VALUES (?)`, version)
	return err
}
