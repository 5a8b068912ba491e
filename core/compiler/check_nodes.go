package compiler

import (
	"fmt"
	"math"
	"time"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/node"
	"github.com/docket-go/docket/core/schema"
	"github.com/docket-go/docket/core/value"
)

// implementation is what the registry says about one implementation id. It is
// asked once however many nodes use it.
type implementation struct {
	node    node.Node
	known   bool
	config  *schema.Validator // nil: takes no config, or wrong
	wrong   []schema.Reason   // what is wrong with the config schema
	initial value.Optional    // the config of a node that has none
	writes  []string
	reads   []string
	// declares tells whether both writes and reads are all there is.
	declares bool
	panicked string // why writes or reads could not be asked
}

// resolve asks the registry about every implementation of the graph.
func (c *checker) resolve() {
	if c.reg == nil {
		return
	}
	for _, id := range value.Keys(c.g.Nodes) {
		impl := c.g.Nodes[id].Implementation
		if impl == "" || c.impls[impl] != nil {
			continue
		}
		n, ok := c.reg.Lookup(impl)
		ask := &implementation{node: n, known: ok && n != nil}
		if ask.known {
			ask.askConfig()
			ask.askAccess()
		}
		c.impls[impl] = ask
	}
}

func (i *implementation) askConfig() {
	var s schema.Schema
	if why := guarded(func() { s = i.node.ConfigSchema() }); why != "" {
		i.wrong = []schema.Reason{{Message: "ConfigSchema panicked: " + why}}
		return
	}
	if s.IsZero() {
		return
	}
	if s.Type != schema.TypeObject && s.Type != schema.TypeMap {
		i.wrong = []schema.Reason{{Message: fmt.Sprintf("a config is an object, not %s", s.Type)}}
		return
	}
	v, err := schema.Compile(s)
	if err != nil {
		if i.wrong = s.Check(); len(i.wrong) == 0 {
			i.wrong = []schema.Reason{{Message: err.Error()}}
		}
		return
	}
	i.config, i.initial = v, s.Default
}

// materialize makes the graph effective: each node's config gets the defaults of
// its implementation.
func (c *checker) materialize() {
	for _, id := range value.Keys(c.g.Nodes) {
		n := c.g.Nodes[id]
		impl := c.impls[n.Implementation]
		if impl == nil || impl.config == nil || c.broken(at("nodes", id, "config")) {
			continue
		}
		config := n.Config
		if len(config) == 0 && impl.initial.Set {
			config, _ = value.Clone(impl.initial.Value).(map[string]any)
		}
		if config == nil {
			config = map[string]any{}
		}
		if full, ok := impl.config.Materialize(config).(map[string]any); ok && len(full) > 0 {
			n.Config = full
			c.g.Nodes[id] = n
		}
	}
}

func (c *checker) checkNodes() {
	for _, id := range value.Keys(c.g.Nodes) {
		path := at("nodes", id)
		n := c.g.Nodes[id]
		if n.Implementation == "" {
			c.error(CodeMissingImplementation, at(path, "implementation"), "names no implementation: choose one of the registry's")
		} else if c.reg != nil {
			c.checkImplementation(path, n)
		}
		c.checkPolicies(at(path, "policies"), n.Policies)
	}
}

func (c *checker) checkImplementation(path string, n graph.Node) {
	impl := c.impls[n.Implementation]
	switch {
	case !impl.known:
		c.error(CodeUnregisteredImplementation, at(path, "implementation"), fmt.Sprintf(
			"the registry has no implementation %q: register it, or choose one that is registered", n.Implementation))
	case len(impl.wrong) > 0:
		for _, r := range impl.wrong {
			c.error(CodeInvalidConfigSchema, at(path, "implementation"),
				fmt.Sprintf("the config schema of %q is wrong: %s", n.Implementation, r))
		}
	case !c.broken(at(path, "config")):
		c.checkConfig(at(path, "config"), n, impl)
	}
	if impl.panicked != "" {
		c.error(CodeUnsupportedImplementation, at(path, "implementation"), fmt.Sprintf(
			"%q can't say which fields it uses: %s", n.Implementation, impl.panicked))
	}
}

func (c *checker) checkConfig(path string, n graph.Node, impl *implementation) {
	if impl.config == nil {
		for _, key := range value.Keys(n.Config) {
			c.error(CodeInvalidNodeConfig, at(path, key), fmt.Sprintf("%q takes no config: remove it", n.Implementation))
		}
		return
	}
	config := n.Config
	if config == nil {
		config = map[string]any{}
	}
	for _, r := range schema.Within(path, impl.config.Validate(config)) {
		c.error(CodeInvalidNodeConfig, r.Path, r.Message)
	}
}

// maxMS is the longest time in whole milliseconds that a Duration holds.
const maxMS = math.MaxInt64 / int64(time.Millisecond)

func (c *checker) checkPolicies(path string, p graph.NodePolicies) {
	c.checkMS(at(path, "timeout_ms"), p.TimeoutMS, "must be at least 1, or left out for the host's maximum")
	if p.Retry == nil {
		return
	}
	path = at(path, "retry")
	if p.Retry.MaxAttempts < 1 {
		c.error(CodeInvalidPolicy, at(path, "max_attempts"), "must be at least 1: it counts the first attempt too")
	}
	c.checkMS(at(path, "backoff_ms"), p.Retry.BackoffMS, "must not be negative")
	c.checkMS(at(path, "max_backoff_ms"), p.Retry.MaxBackoffMS, "must be at least 1, or left out for no cap")
	if p.Retry.Jitter < 0 || p.Retry.Jitter > 1 {
		c.error(CodeInvalidPolicy, at(path, "jitter"), "must be a number from 0 to 1")
	}
}

func (c *checker) checkMS(path string, ms int64, negative string) {
	switch {
	case ms < 0:
		c.error(CodeInvalidPolicy, path, negative)
	case ms > maxMS:
		c.error(CodeInvalidPolicy, path, fmt.Sprintf("must be at most %d: no clock goes further", maxMS))
	}
}

// guarded runs code of the host and returns the panic it ended with, if any.
func guarded(call func()) (panicked string) {
	defer func() {
		if v := recover(); v != nil {
			panicked = value.Cut(fmt.Sprint(v), maxPanicText)
		}
	}()
	call()
	return ""
}

// maxPanicText bounds how much of a panic a diagnostic shows, in bytes.
const maxPanicText = 512
