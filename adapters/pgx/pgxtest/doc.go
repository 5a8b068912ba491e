// Package pgxtest finds a PostgreSQL server for tests: yours, one in Docker, or
// a throw-away cluster from installed binaries.
//
//	func TestMain(m *testing.M) { os.Exit(pgxtest.Run(m)) }
//
//	func TestMine(t *testing.T) {
//		pool, err := pgxpool.New(t.Context(), pgxtest.Database(t))
//		…
//	}
//
// # Which server
//
//  1. DOCKET_TEST_DATABASE_URL names one, as a role that may create databases.
//  2. DOCKET_TEST_POSTGRES_IMAGE names an image (postgres:17, or a local one): it
//     runs in Docker, until the tests end.
//  3. initdb and postgres are installed: a cluster in a temporary directory, also
//     for root, by running it as postgres or nobody.
//
// Run says which it took. Without any, tests that need one skip; with CI or
// DOCKET_REQUIRE_POSTGRES=1 they fail, saying what to do.
//
// # What holds
//
//   - One server a test process, started when the first test asks; each test has
//     a database of its own, which goes with the test.
//   - What was started is stopped and removed, also when the process is killed:
//     the cluster at once, the container when its time is over.
//
// It is a module of its own, so that Docker's client is in no application's
// module graph. It doesn't flush to the disk: don't measure with it.
package pgxtest
