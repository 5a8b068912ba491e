package compiler

// parallel tells which pairs of nodes may run in one superstep.
type parallel struct {
	t     *topology
	seen  []bool // pairs as a·n+b with a < b
	queue [][2]int
}

// parallel follows pairs of paths that begin at one node's different edges.
// Either path may wait (for an answer, at a barrier) while the other goes on,
// so a pair leads to every pair in which one or both have moved. Edges of one
// branch group are alternatives and begin no pair. It is an estimate from above.
func (t *topology) parallel(alternatives func(a, b string) bool) *parallel {
	p := &parallel{t: t, seen: make([]bool, len(t.ids)*len(t.ids))}
	for v := range t.ids {
		for i, a := range t.out[v] {
			for _, b := range t.out[v][i+1:] {
				if !alternatives(t.edges[a].id, t.edges[b].id) {
					p.add(t.edges[a].target, t.edges[b].target)
				}
			}
		}
	}
	for len(p.queue) > 0 {
		pair := p.queue[0]
		p.queue = p.queue[1:]
		p.follow(pair[0], pair[1])
		p.follow(pair[1], pair[0])
	}
	return p
}

// follow moves a while b waits. Both moving at once is one after the other,
// except when a moves to where b was: then they are one node in between.
func (p *parallel) follow(a, b int) {
	for _, i := range p.t.out[a] {
		next := p.t.edges[i].target
		if next != b {
			p.add(next, b)
			continue
		}
		for _, j := range p.t.out[b] {
			p.add(next, p.t.edges[j].target)
		}
	}
}

func (p *parallel) add(a, b int) {
	if a < 0 || b < 0 || a == b {
		return
	}
	a, b = min(a, b), max(a, b)
	if at := a*len(p.t.ids) + b; !p.seen[at] {
		p.seen[at] = true
		p.queue = append(p.queue, [2]int{a, b})
	}
}

func (p *parallel) may(a, b int) bool {
	return p.seen[min(a, b)*len(p.t.ids)+max(a, b)]
}

// among returns the ids of those nodes that may run together with another one
// of them.
func (p *parallel) among(nodes []int) (ids []string) {
	for _, a := range nodes {
		for _, b := range nodes {
			if a != b && p.may(a, b) {
				ids = append(ids, p.t.ids[a])
				break
			}
		}
	}
	return ids
}
