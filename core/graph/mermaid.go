package graph

import (
	"fmt"
	"strings"

	"github.com/docket-go/docket/core/value"
)

// Mermaid returns g as a Mermaid flowchart, with the marks as classes named like
// the marks. Equal graphs and marks give equal text.
func (g Graph) Mermaid(m Marks) string {
	s := g.sketch(m)
	var b strings.Builder
	if s.title != "" {
		// A JSON string is a YAML string, too.
		fmt.Fprintf(&b, "---\ntitle: %s\n---\n", value.AppendString(nil, s.title))
	}
	b.WriteString("flowchart TD\n")
	used := make(map[string]bool)
	for _, box := range s.boxes {
		class := box.class()
		used[class] = true
		fmt.Fprintf(&b, "    %s%s", box.mermaidID(), box.mermaidShape())
		if class != "" {
			fmt.Fprintf(&b, ":::%s", class)
		}
		b.WriteByte('\n')
	}
	for _, a := range s.arrows {
		fmt.Fprintf(&b, "    %s %s", a.from.mermaidID(), mermaidArrow(a))
		fmt.Fprintf(&b, " %s\n", a.to.mermaidID())
	}
	writeClasses(&b, used)
	return b.String()
}

func writeClasses(b *strings.Builder, used map[string]bool) {
	for _, c := range colours {
		if !used[string(c.mark)] {
			continue
		}
		fmt.Fprintf(b, "    classDef %s fill:%s,stroke:%s,color:#000", c.mark, c.fill, c.border)
		if c.bold {
			b.WriteString(",stroke-width:3px")
		}
		if c.dashed {
			b.WriteString(",stroke-dasharray:6 3")
		}
		b.WriteByte('\n')
	}
	if used["missing"] {
		b.WriteString("    classDef missing fill:none,stroke:#b3261e,stroke-dasharray:2 2\n")
	}
}

// class is the Mermaid class of a box: its mark, if it is a known one.
func (b box) class() string {
	if b.kind == boxMissing {
		return "missing"
	}
	for _, c := range colours {
		if c.mark == b.mark {
			return string(b.mark)
		}
	}
	return ""
}

func (b box) mermaidShape() string {
	text := mermaidText(b.label)
	switch b.kind {
	case boxStart, boxFinish:
		return `(["` + text + `"])`
	case boxJoin:
		return `{{"` + text + `"}}`
	default:
		return `["` + text + `"]`
	}
}

// mermaidID prefixes ids, because words like end are keywords, and spells what
// Mermaid might read as syntax: no two ids become one.
func (b box) mermaidID() string {
	prefix := "n_"
	switch b.kind {
	case boxStart:
		return "start"
	case boxFinish:
		return "finish"
	case boxJoin:
		prefix = "join_"
	}
	var out strings.Builder
	out.WriteString(prefix)
	for i := range len(b.id) {
		switch c := b.id[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
			out.WriteByte(c)
		case c == '_':
			out.WriteString("__")
		case c == '-':
			out.WriteString("_h")
		default:
			fmt.Fprintf(&out, "_x%02x", c)
		}
	}
	return out.String()
}

func mermaidArrow(a arrow) string {
	switch {
	case a.feeds:
		return "---"
	case a.text == "":
		return "-->"
	default:
		return `-->|"` + mermaidText(a.text) + `"|`
	}
}

// mermaidEscapes writes as entities what Mermaid reads as syntax, as HTML or as
// Markdown.
var mermaidEscapes = strings.NewReplacer(
	"#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", `\`, "#92;",
	"*", "#42;", "_", "#95;", "|", "#124;", "\r\n", "<br/>", "\n", "<br/>", "\r", "<br/>",
)

func mermaidText(s string) string {
	return mermaidEscapes.Replace(printable(s))
}

// printable replaces control characters, which both notations would choke on or
// hide, except line ends.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\r' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, s)
}
