package mutants

import (
	"github.com/docket-go/docket/conformance/model"
	"github.com/docket-go/docket/ports"
)

// declaredMutants declare other capabilities than they have.
var declaredMutants = []Mutant{
	{Name: "transactions-undeclared", Clause: "TX-1", Off: "Transactions are there and not declared.",
		wrap: declaring(func(c *ports.Capabilities) { c.Transactor = false })},
	{Name: "wakes-undeclared", Clause: "WAK-1", Off: "A wake source is there and not declared.",
		wrap: declaring(func(c *ports.Capabilities) { c.WakeSource = false })},
	{Name: "pruner-undeclared", Clause: "PRN-1", Off: "A pruner is there and not declared.",
		wrap: declaring(func(c *ports.Capabilities) { c.Pruner = false })},
	{Name: "pruner-absent", Clause: "PRN-1", Off: "A pruner is declared and not there.",
		wrap: func(b *model.Backend) ports.Backend { return bare{b, b} }},
}

// declarer is the model with another declaration.
type declarer struct {
	*model.Backend
	change func(*ports.Capabilities)
}

func declaring(change func(*ports.Capabilities)) func(*model.Backend) ports.Backend {
	return func(b *model.Backend) ports.Backend { return &declarer{b, change} }
}

func (d *declarer) inside() *model.Backend { return d.Backend }

func (d *declarer) Capabilities() ports.Capabilities {
	caps := d.Backend.Capabilities()
	d.change(&caps)
	return caps
}

// bare shows the required roles alone, and declares a pruner.
type bare struct {
	ports.Backend
	model *model.Backend
}

func (b bare) inside() *model.Backend { return b.model }

func (bare) Capabilities() ports.Capabilities { return ports.Capabilities{Pruner: true} }
