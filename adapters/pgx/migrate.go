package postgres

import (
	"archive/zip"
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/ports"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationNames are the migrations in order; the first is version 1.
var migrationNames = [...]string{"0001_tables", "0002_views"}

// newestVersion is the schema version that this build works with.
const newestVersion = len(migrationNames)

// NewestVersion returns the schema version that this build works with, the
// number of its newest migration.
func NewestVersion() int { return newestVersion }

// A SchemaError says that a schema's version isn't the one this build works
// with. Nothing was touched. It is ports.ErrUnsupported.
type SchemaError struct {
	Schema string
	Have   int // 0: there are no tables
	Want   int
}

// Error names the schema, both versions and what to do.
func (e *SchemaError) Error() string {
	text := fmt.Sprintf("postgres: schema %q is at version %d, this build works with %d: ", e.Schema, e.Have, e.Want)
	if e.Have > e.Want {
		return text + "upgrade docket's adapter, or migrate down with the newer build"
	}
	return text + "run postgres.Migrate, or the files of postgres.Migrations"
}

// Unwrap makes the error ports.ErrUnsupported.
func (e *SchemaError) Unwrap() error { return ports.ErrUnsupported }

// Conn is what migrations run on: a *pgx.Conn or a *pgxpool.Pool.
type Conn interface {
	querier
	BeginTx(ctx context.Context, opts pgx.TxOptions) (pgx.Tx, error)
}

// Migrate brings a schema (empty: DefaultSchema) up to the newest version, and
// creates it when it is missing. It is safe to call from any number of processes
// at once: they take turns, and the later ones find nothing to do.
func Migrate(ctx context.Context, conn Conn, schema string) error {
	return MigrateTo(ctx, conn, schema, newestVersion)
}

// MigrateTo brings a schema up to a version, each step in a transaction of its
// own. It never goes down: a schema that is above the version, also by another
// process meanwhile, is ErrInvalid and stays as it is.
func MigrateTo(ctx context.Context, conn Conn, schema string, version int) error {
	return migrate(ctx, conn, "MigrateTo", schema, version, up)
}

// MigrateDown takes a schema down to a version, each step in a transaction of its
// own, with what the later versions hold; version 0 removes docket's tables. It
// never goes up: a schema below the version is ErrInvalid.
func MigrateDown(ctx context.Context, conn Conn, schema string, version int) error {
	return migrate(ctx, conn, "MigrateDown", schema, version, down)
}

// direction is the only way in which a migration goes, whatever others do beside
// it.
type direction int

const (
	up   direction = 1
	down direction = -1
)

func migrate(ctx context.Context, conn Conn, op, schema string, version int, way direction) error {
	if schema == "" {
		schema = DefaultSchema
	}
	if err := checkSchema(schema); err != nil {
		return &ports.Error{Code: ports.CodeInvalid, Op: op, Path: "schema", Err: err}
	}
	if version < 0 || version > newestVersion {
		return ports.Invalid(op, "version", fmt.Sprintf("%d is outside 0..%d", version, newestVersion))
	}
	for {
		done, err := migrateStep(ctx, conn, op, place(schema), version, way)
		if err != nil {
			return mapError(op, fmt.Errorf("postgres: schema %q: %w", schema, err), writing)
		}
		if done {
			return nil
		}
	}
}

// SchemaVersion returns the version of a schema (empty: DefaultSchema), 0 when
// it has no tables of docket's.
func SchemaVersion(ctx context.Context, conn Conn, schema string) (int, error) {
	if schema == "" {
		schema = DefaultSchema
	}
	version, err := schemaVersion(ctx, conn, place(schema))
	return version, mapError("SchemaVersion", err, reading)
}

func schemaVersion(ctx context.Context, q querier, p place) (version int, err error) {
	var exists bool
	err = q.QueryRow(ctx, `SELECT to_regclass($1::text) IS NOT NULL`, p.quoted()+".docket_schema").Scan(&exists)
	if err != nil || !exists {
		return 0, err
	}
	err = q.QueryRow(ctx, p.sql(`SELECT coalesce(max(version), 0) FROM docket.docket_schema`)).Scan(&version)
	return version, err
}

// migrateStep takes one step towards a version. The lock belongs to the
// transaction: a runner that dies leaves neither half a step nor a lock.
func migrateStep(ctx context.Context, conn Conn, op string, p place, want int, way direction) (done bool, err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // does nothing after a commit
	// Waiting for another runner is no fault, whatever time-outs are the default.
	_, err = tx.Exec(ctx, `SELECT set_config('lock_timeout', '0', true), set_config('statement_timeout', '0', true)`)
	if err != nil {
		return false, err
	}
	if _, err = tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, p.lock(lockMigrate)); err != nil {
		return false, err
	}
	have, err := schemaVersion(ctx, tx, p)
	switch {
	case err != nil:
		return false, err
	case have > newestVersion:
		return false, &SchemaError{Schema: string(p), Have: have, Want: newestVersion}
	case have == want:
		return true, nil
	case (have < want) != (way == up):
		return false, ports.Invalid(op, "version", fmt.Sprintf("the schema is at version %d, and %d is the other way", have, want))
	}
	name := fmt.Sprintf("%s.up.sql", migrationNames[min(have, newestVersion-1)])
	if way == down {
		name = fmt.Sprintf("%s.down.sql", migrationNames[have-1])
	}
	if err := applyMigration(ctx, tx, p, name, have == 0); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return false, tx.Commit(ctx)
}

func applyMigration(ctx context.Context, tx pgx.Tx, p place, name string, first bool) error {
	if first {
		// Asked first: IF NOT EXISTS needs the right to create even when it doesn't.
		var missing bool
		err := tx.QueryRow(ctx, `SELECT to_regnamespace($1::text) IS NULL`, p.quoted()).Scan(&missing)
		if err != nil {
			return err
		}
		if missing {
			if _, err := tx.Exec(ctx, `CREATE SCHEMA `+p.quoted()); err != nil {
				return err
			}
		}
	}
	script, err := migrationScript(p, name)
	if err != nil {
		return err
	}
	// Several statements in one message: the simple protocol.
	_, err = tx.Conn().PgConn().Exec(ctx, script).ReadAll()
	return err
}

func migrationScript(p place, name string) (string, error) {
	script, err := migrationFiles.ReadFile(path.Join("migrations", name))
	return p.sql(string(script)), err
}

// Migrations returns the migrations of a schema (empty: DefaultSchema) as plain
// SQL, for the host's own tool: NNNN_name.up.sql and NNNN_name.down.sql, each to
// be run in one transaction. They keep docket_schema up to date by themselves.
// The schema must exist.
func Migrations(schema string) (fs.FS, error) {
	if schema == "" {
		schema = DefaultSchema
	}
	if err := checkSchema(schema); err != nil {
		return nil, &ports.Error{Code: ports.CodeInvalid, Op: "Migrations", Path: "schema", Err: err}
	}
	// An archive in memory is the standard library's read-only file system.
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, migration := range migrationNames {
		for _, direction := range []string{"up", "down"} {
			name := migration + "." + direction + ".sql"
			script, err := migrationScript(place(schema), name)
			if err != nil {
				return nil, err
			}
			file, err := w.Create(name)
			if err != nil {
				return nil, err
			}
			if _, err := file.Write([]byte(script)); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
}
