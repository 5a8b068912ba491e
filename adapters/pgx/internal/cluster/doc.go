// Package cluster runs a throw-away PostgreSQL cluster from the binaries that
// are installed on this machine, for tests.
//
//	c, err := cluster.Start(ctx, cluster.Config{})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	pool, err := pgxpool.New(ctx, c.URL("postgres"))
//
// # What holds
//
//   - The cluster lives in a temporary directory and listens on a free port of
//     the loopback interface, with a random password.
//   - PostgreSQL refuses to run as root: a root process starts it as an
//     unprivileged user, postgres or nobody.
//   - It goes with its process. Close stops the server and removes the directory;
//     when the process is killed, a guard that waits on a pipe does.
//
// # What it does not do
//
// It downloads nothing, and it is not for data that matters: with Config.Durable
// unset it doesn't flush to the disk.
package cluster
