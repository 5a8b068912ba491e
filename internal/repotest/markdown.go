package repotest

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// document is a Markdown file: its text outside of code, its headings and the
// code blocks that it quotes from sources.
type document struct {
	name   string // relative to the root
	links  []link
	anchor map[string]bool
	quotes []quote
}

// link is one link to a place in the repository.
type link struct {
	line   int
	target string // path relative to the root; "" is the document itself
	anchor string
}

// quote is a code block that says which source it was copied from, by the
// comment <!-- quoted from PATH --> on the line above its fence.
type quote struct {
	line   int
	source string
	text   string
}

var (
	linkForm  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	codeForm  = regexp.MustCompile("`[^`]*`")
	quoteForm = regexp.MustCompile(`^<!-- quoted from (\S+) -->$`)
	fenceForm = regexp.MustCompile("^```")
)

// parseDocument reads a Markdown text.
func parseDocument(name, text string) document {
	d := document{name: name, anchor: map[string]bool{}}
	var (
		source string // of the next fence
		open   *quote
		fenced bool
	)
	for i, line := range strings.Split(text, "\n") {
		switch {
		case fenced && fenceForm.MatchString(line):
			if open != nil {
				d.quotes = append(d.quotes, *open)
			}
			fenced, open = false, nil
		case fenced:
			if open != nil {
				open.text += line + "\n"
			}
		case fenceForm.MatchString(line):
			fenced = true
			if source != "" {
				open, source = &quote{line: i + 1, source: source}, ""
			}
		case quoteForm.MatchString(line):
			source = quoteForm.FindStringSubmatch(line)[1]
		case strings.HasPrefix(line, "#"):
			d.anchor[slug(strings.TrimLeft(line, "# "))] = true
		default:
			d.links = append(d.links, linksOf(name, i+1, line)...)
		}
	}
	return d
}

// linksOf finds the links of a line that stay inside the repository.
func linksOf(name string, number int, line string) []link {
	var found []link
	for _, m := range linkForm.FindAllStringSubmatch(codeForm.ReplaceAllString(line, ""), -1) {
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		target, anchor, _ := strings.Cut(m[1], "#")
		if target != "" {
			target = path.Join(path.Dir(name), target)
		}
		found = append(found, link{line: number, target: target, anchor: anchor})
	}
	return found
}

// slug is a heading's anchor: lower case, blanks to hyphens, no punctuation.
func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// checkLinks says which links of the documents lead nowhere.
func checkLinks(docs map[string]document, exists func(name string) bool) []string {
	var wrong []string
	for name, d := range docs {
		for _, l := range d.links {
			target := l.target
			if target == "" {
				target = name
			}
			to, isDoc := docs[target]
			switch {
			case !isDoc && !exists(target):
				wrong = append(wrong, fmt.Sprintf("%s:%d links to %s, which doesn't exist", name, l.line, target))
			case l.anchor != "" && isDoc && !to.anchor[l.anchor]:
				wrong = append(wrong, fmt.Sprintf("%s:%d links to %s#%s, which has no such heading", name, l.line, target, l.anchor))
			}
		}
	}
	return wrong
}

// checkQuotes says which quoted blocks aren't in their sources any more. A
// quote may leave out the source's indentation, nothing else.
func checkQuotes(d document, read func(name string) (string, error)) []string {
	var wrong []string
	for _, q := range d.quotes {
		source, err := read(q.source)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s:%d quotes %s: %v", d.name, q.line, q.source, err))
			continue
		}
		if strings.TrimSpace(q.text) == "" || !strings.Contains(flush(source), flush(q.text)) {
			wrong = append(wrong, fmt.Sprintf("%s:%d quotes %s, which doesn't say that", d.name, q.line, q.source))
		}
	}
	return wrong
}

// flush removes each line's indentation and trailing blanks.
func flush(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}
