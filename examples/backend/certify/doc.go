// Command certify certifies the example backend and prints its certificate. It
// is what an author links for a backend of their own.
//
//	go run ./examples/backend/certify
//	go run ./examples/backend/certify -list
//	go run ./examples/backend/certify -run '^claims/' -seed 7
//
// It exits with 0 when the backend conforms, 1 when it doesn't, 2 when the suite
// could not run. It certifies nothing but the example: cmd/conformance-runner is
// for the backends that come with docket.
package main
