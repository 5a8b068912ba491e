package conformance

import (
	"fmt"
	"maps"
	"slices"
)

// Differences compares two reports in everything that must come out the same
// when a certification is repeated: the suite, what was asked of it, what the
// backend declares, every outcome and every verdict. Times, environments, and
// the wording of failures may differ. It returns nil when nothing does.
func (r Report) Differences(again Report) []string {
	var d []string
	differ := func(what string, was, is any) {
		if was, is := fmt.Sprint(was), fmt.Sprint(is); was != is {
			d = append(d, fmt.Sprintf("%s: was %s, is %s", what, was, is))
		}
	}
	differ("suite", r.Suite, again.Suite)
	differ("digest", r.Digest, again.Digest)
	differ("backend", r.Backend, again.Backend)
	differ("capabilities", fmt.Sprintf("%+v", r.Capabilities), fmt.Sprintf("%+v", again.Capabilities))
	differ("seed", r.Seed, again.Seed)
	differ("selected", fmt.Sprintf("%q", r.Selected), fmt.Sprintf("%q", again.Selected))
	differ("required", fmt.Sprintf("%q", joined(r.Required, ",")), fmt.Sprintf("%q", joined(again.Required, ",")))
	if !maps.Equal(r.Waivers, again.Waivers) {
		differ("waivers", r.Waivers, again.Waivers)
	}
	was, is := r.verdicts(), again.verdicts()
	for _, what := range sortedKeys(union(was, is)) {
		if was[what] != is[what] {
			d = append(d, fmt.Sprintf("%s: was %s, is %s", what, orAbsent(was[what]), orAbsent(is[what])))
		}
	}
	return d
}

// verdicts lists every outcome and every verdict by what it is about.
func (r Report) verdicts() map[string]string {
	all := map[string]string{}
	for _, l := range r.Levels {
		all["level "+string(l.Level)] = fmt.Sprintf("%s %d/%d", l.Verdict, l.Passed, l.Cases)
	}
	for _, q := range r.Questions {
		all["question "+q.Question] = fmt.Sprintf("%s %d/%d %v", q.Verdict, q.Passed, q.Cases, q.Clauses)
	}
	for _, res := range r.Results {
		text := string(res.Outcome)
		if res.Reason != "" {
			text += " (" + res.Reason + ")"
		}
		all["case "+res.ID] = text
	}
	return all
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func orAbsent(s string) string {
	if s == "" {
		return "absent"
	}
	return s
}

// levels lists those with the verdict, in the order of reports.
func (r Report) levels(v Verdict) []string {
	var names []string
	for _, l := range r.Levels {
		if l.Verdict == v && l.Cases > 0 {
			names = append(names, string(l.Level))
		}
	}
	return slices.Clip(names)
}
