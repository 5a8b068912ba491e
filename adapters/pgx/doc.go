// Package postgres is the place of docket's production backend on PostgreSQL,
// with the driver pgx v5. It is being built and holds no code yet: a program
// that needs a store today uses adapters/sqlite-experimental, or
// adapters/memory in tests.
//
// What it will keep to is docs/contract.md, like every backend: one round trip
// a transition, claims that never block each other, records stored as bytes.
// It certifies with package conformance before it is called a backend.
package postgres
