package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
)

func main() {
	var story bytes.Buffer
	err := tell(&story)
	_, lost := os.Stdout.Write(story.Bytes())
	if err := cmp.Or(err, lost); err != nil {
		fmt.Fprintln(os.Stderr, "core-only:", err)
		os.Exit(1)
	}
}

// tell goes through the whole story and stops at the first thing that isn't as
// it must be.
func tell(w io.Writer) error {
	g, err := claim()
	if err != nil {
		return err
	}
	reg, err := registry()
	if err != nil {
		return err
	}
	chapter(w, "A flawed variant, and what the compiler says")
	if err := showFlaws(w, g, reg); err != nil {
		return err
	}
	chapter(w, "The graph")
	fmt.Fprint(w, g.Mermaid(nil))
	return play(w, g, reg)
}

func chapter(w io.Writer, title string) {
	fmt.Fprintf(w, "\n== %s ==\n\n", title)
}
