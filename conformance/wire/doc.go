// Package wire speaks the contract of package ports over a pair of pipes, so
// that a backend written in any language, in a process of its own, can be
// certified by an unmodified suite. The protocol (length-framed JSON on standard
// input and output) is docs/wire-protocol.md.
//
// A backend written in Go needs one call:
//
//	func main() {
//		err := wire.Serve(context.Background(), os.Stdin, os.Stdout, wire.Agent{
//			Name: "mine",
//			Open: func(ctx context.Context, s wire.Store) (ports.Backend, error) {
//				return mine.Open(filepath.Join(s.Directory, "mine.db"))
//			},
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//	}
//
// The other end is Client, a ports.Backend with the optional interfaces that the
// agent declared. Package process starts agents and makes a harness of them.
//
// # What always holds
//
//   - Frames are bounded, both ways. A malformed one is an error that names what
//     is wrong and where; the connection ends with it.
//   - Requests run concurrently and are answered in any order. One connection is
//     one handle on one store.
//   - No call outlives its context by more than Config.Grace, and none lasts
//     longer than Config.Patience: an agent that hangs is ended and told.
//   - A call whose agent died is ErrUnavailable when it wasn't sent or only read,
//     ErrUncertain when it was a write.
//   - Open transactions are rolled back at the end of the agent's input.
//
// # What it does not do
//
// It is made for certification, not for production: there is no authentication,
// no reconnecting, no flow control beyond the pipe's. It checks no request and
// repairs no answer; what the backend does is what the suite sees.
package wire
