package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// The elements of the JUnit format, as far as its readers agree about it.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
		Skipped *junitMessage `xml:"skipped"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes reports in the format that continuous integration shows as
// test results: a suite for each report, a case for each case. A waived case is
// a skipped one.
func WriteJUnit(w io.Writer, reports ...Report) error {
	var all junitSuites
	for _, r := range reports {
		all.Suites = append(all.Suites, r.junit())
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r Report) junit() junitSuite {
	s := junitSuite{
		Name: "docket conformance: " + r.Backend, Tests: len(r.Results),
		Failures: r.Count(Fail), Errors: r.Count(Broke), Skipped: r.Count(Skip) + r.Count(Waived),
		Time: seconds(r.Elapsed), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{
			{"suite", r.Suite}, {"digest", r.Digest}, {"seed", fmt.Sprint(r.Seed)}, {"verdict", r.Sentence()},
			{"granted", strings.Join(r.levels(Granted), " ")},
		},
	}
	for _, res := range r.Results {
		area, name, _ := strings.Cut(res.ID, "/")
		c := junitCase{Class: r.Backend + "." + area, Name: name, Time: seconds(res.Elapsed)}
		message := &junitMessage{Message: xmlText(res.Rule), Text: xmlText(res.Text())}
		switch res.Outcome {
		case Fail:
			c.Failure = message
		case Broke:
			c.Error = message
		case Skip, Waived:
			c.Skipped = &junitMessage{Message: xmlText(strings.TrimSpace(map[bool]string{true: "waived: "}[res.Outcome == Waived] + res.Reason))}
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// xmlText replaces what XML can't hold: most control characters.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF {
			return '?'
		}
		return r
	}, s)
}
