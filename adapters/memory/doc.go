// Package memory is a backend that keeps everything in the process: the one
// for tests, examples and development.
//
//	backend := memory.New(memory.Config{})
//	defer backend.Close()
//
// It is an ordinary adapter and signs the whole contract but durability: what
// it holds ends with the process. It declares transactions, wakes and
// retention.
//
// What always holds:
//
//   - Bytes are copied on the way in and on the way out; nothing is shared with
//     callers.
//   - Stored rows are immutable. A change puts a new row in the place of the old
//     one, so readers see a run and its events as of one moment.
//   - Writes take turns. A transaction holds the turn from Begin to its end, and
//     other writes wait until then or until their context ends (TX-6). Reads
//     never wait for it, and see nothing of it (TX-2).
//   - Its clock, Config.Clock or the process's, is read in whole microseconds
//     and never goes backwards.
//
// It does not do tenant-fair admission: it claims in the order of eligible time
// and id, whoever owns the runs.
package memory
