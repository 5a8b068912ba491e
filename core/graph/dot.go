package graph

import (
	"fmt"
	"strings"
)

// DOT returns g in the language of Graphviz, with the marks as fill colours.
// Equal graphs and marks give equal text.
func (g Graph) DOT(m Marks) string {
	s := g.sketch(m)
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n", dotText(g.ID))
	if s.title != "" {
		fmt.Fprintf(&b, "    label=%s; labelloc=t;\n", dotText(s.title))
	}
	b.WriteString("    rankdir=TB;\n")
	b.WriteString("    node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\"];\n")
	b.WriteString("    edge [fontname=\"sans-serif\", fontsize=11];\n")
	for _, box := range s.boxes {
		fmt.Fprintf(&b, "    %s [%s];\n", box.dotID(), strings.Join(box.dotAttributes(), ", "))
	}
	for _, a := range s.arrows {
		fmt.Fprintf(&b, "    %s -> %s", a.from.dotID(), a.to.dotID())
		switch {
		case a.feeds:
			b.WriteString(" [dir=none]")
		case a.text != "":
			fmt.Fprintf(&b, " [label=%s]", dotText(a.text))
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// dotID keeps joins apart from nodes: a node id holds no colon.
func (b box) dotID() string {
	if b.kind == boxJoin {
		return dotText("join:" + b.id)
	}
	return dotText(b.id)
}

func (b box) dotAttributes() []string {
	out := []string{"label=" + dotText(b.label)}
	switch b.kind {
	case boxStart, boxFinish:
		out = append(out, "shape=oval")
	case boxJoin:
		out = append(out, "shape=hexagon", "height=0.3", "width=0.5", "fontsize=10")
	case boxMissing:
		return append(out, `style="rounded,dashed"`, `color="#b3261e"`)
	}
	for _, c := range colours {
		if c.mark != b.mark {
			continue
		}
		out = append(out, fmt.Sprintf("fillcolor=%q, color=%q", c.fill, c.border))
		if c.bold {
			out = append(out, "penwidth=3")
		}
		if c.dashed {
			out = append(out, `style="rounded,filled,dashed"`)
		}
	}
	return out
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`)

// dotText quotes s. A backslash is doubled because labels give \N and its like a
// meaning.
func dotText(s string) string {
	return `"` + dotEscapes.Replace(printable(s)) + `"`
}
