package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// WriteBadge writes a small SVG picture with the levels that were granted, for
// the top of a README.
func (r Report) WriteBadge(w io.Writer) error {
	const label = "docket"
	text, colour := r.badge()
	left, right := badgeWidth(label), badgeWidth(text)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="%[5]s: %[6]s">
  <title>%[5]s: %[6]s</title>
  <clipPath id="r"><rect width="%[1]d" height="20" rx="3"/></clipPath>
  <g clip-path="url(#r)">
    <rect width="%[2]d" height="20" fill="#555"/>
    <rect x="%[2]d" width="%[3]d" height="20" fill="%[4]s"/>
  </g>
  <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
    <text x="%[7]d" y="14">%[5]s</text>
    <text x="%[8]d" y="14">%[6]s</text>
  </g>
</svg>
`, left+right, left, right, colour, label, xmlEscaped(text), left/2, left+right/2)
	return err
}

func (r Report) badge() (text, colour string) {
	const red, green, grey = "#c0392b", "#2e8b57", "#777"
	granted := r.levels(Granted)
	switch code := r.ExitCode(); {
	case r.Count(Fail) > 0:
		return "not conformant", red
	case code == ExitCouldNotRun || len(granted) == 0:
		return "not certified", grey
	case code == ExitNonConformant: // a required level is missing
		return strings.Join(granted, " "), red
	}
	return strings.Join(granted, " "), green
}

// badgeWidth estimates a text's width: a picture can't measure its letters.
func badgeWidth(text string) int { return 7*utf8.RuneCountInString(text) + 12 }

func xmlEscaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // into memory: it can't fail
	return b.String()
}
