package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/value"
	"github.com/docket-go/docket/ports"
)

// maxPage is the largest page a backend answers.
const maxPage = 1000

// problems collects what is wrong with a configuration, so that one start tells
// all of it.
type problems []error

func (p *problems) add(option, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s %s", option, fmt.Sprintf(format, args...)))
}

// validate checks a configuration that has its defaults against itself and the
// backend. It joins all problems.
func (c Config) validate(caps ports.Capabilities) error {
	var p problems
	c.checkChoices(&p)
	c.checkSizes(&p)
	c.checkTimes(&p)
	c.checkTogether(&p)
	c.checkBackend(&p, caps)
	if len(p) == 0 {
		return nil
	}
	err := errors.Join(p...)
	return &Error{Code: CodeInvalidConfig, Message: err.Error(), Err: err}
}

func (c Config) checkChoices(p *problems) {
	oneOf(p, "Tenancy", c.Tenancy, TenancyNone, TenancyOptional, TenancyRequired)
	oneOf(p, "Admission", c.Admission, Fair, Unfair)
	oneOf(p, "Mode", c.Mode, ModeProduction, ModeManual, ModeInline)
	oneOf(p, "Wake", c.Wake, WakeAuto, PollOnly)
	if c.Clock != nil && c.Mode == ModeProduction {
		p.add("Clock", "is only for ModeManual and ModeInline: in production the store's clock counts")
	}
	if c.CacheNamespace != "" {
		if err := value.CheckID(c.CacheNamespace); err != nil {
			p.add("CacheNamespace", "%v", err)
		}
	}
	for i, o := range c.Observers {
		if o == nil {
			p.add(fmt.Sprintf("Observers[%d]", i), "is nil")
		}
	}
}

func oneOf[T ~string](p *problems, option string, got T, allowed ...T) {
	for _, a := range allowed {
		if got == a {
			return
		}
	}
	p.add(option, "is %q, want one of %q", got, allowed)
}

func (c Config) checkSizes(p *problems) {
	for _, o := range []struct {
		name      string
		n, lo, hi int64
	}{
		{"Slots", int64(c.Slots), 1, 1 << 20},
		{"ClaimAttempts", c.ClaimAttempts, 1, 1 << 31},
		{"DrainMoments", int64(c.DrainMoments), 1, 1 << 31},
		{"MaxAbandons", c.MaxAbandons, 1, 1 << 31},
		{"MaxSupersteps", c.MaxSupersteps, 0, 1 << 62},
		{"MaxRunBytes", c.MaxRunBytes, 1 << 10, record.MaxRunBytes},
		{"MaxEventBytes", c.MaxEventBytes, 1 << 10, record.MaxEventBytes},
		{"MaxAbandoned", int64(c.MaxAbandoned), 1, 1 << 31},
		{"RunPage", int64(c.RunPage), 1, maxPage},
		{"VersionPage", int64(c.VersionPage), 1, maxPage},
		{"EventPage", int64(c.EventPage), 1, maxPage},
	} {
		if o.n < o.lo || o.n > o.hi {
			p.add(o.name, "is %d, want %d to %d", o.n, o.lo, o.hi)
		}
	}
}

func (c Config) checkTimes(p *problems) {
	for _, o := range []struct {
		name string
		d    time.Duration
	}{
		{"Poll", c.Poll}, {"ClaimTTL", c.ClaimTTL}, {"Renewal", c.Renewal},
		{"StoreTimeout", c.StoreTimeout}, {"ShutdownGrace", c.ShutdownGrace},
		{"AttemptMax", c.AttemptMax}, {"DrainTime", c.DrainTime},
		{"AbandonBackoff", c.AbandonBackoff}, {"AbandonMaxBackoff", c.AbandonMaxBackoff},
		{"IncompatibleTTL", c.IncompatibleTTL}, {"ObserverTimeout", c.ObserverTimeout},
	} {
		if o.d < time.Microsecond || o.d > 365*24*time.Hour {
			p.add(o.name, "is %s, want 1µs to 8760h", o.d)
		}
	}
}

// checkTogether refuses combinations under which a healthy worker could lose its
// claim or a stop could cut a commit short.
func (c Config) checkTogether(p *problems) {
	if c.Renewal > c.ClaimTTL/3 {
		p.add("Renewal", "is %s, more than a third of ClaimTTL %s: one late renewal would lose the claim", c.Renewal, c.ClaimTTL)
	}
	if c.StoreTimeout >= c.ClaimTTL/3 {
		p.add("StoreTimeout", "is %s, not less than a third of ClaimTTL %s: one slow call would lose the claim", c.StoreTimeout, c.ClaimTTL)
	}
	if c.Poll >= c.ClaimTTL {
		p.add("Poll", "is %s, not less than ClaimTTL %s", c.Poll, c.ClaimTTL)
	}
	if c.ShutdownGrace <= c.StoreTimeout {
		p.add("ShutdownGrace", "is %s, not more than StoreTimeout %s: the commit at hand could be cut short", c.ShutdownGrace, c.StoreTimeout)
	}
	if c.AbandonMaxBackoff < c.AbandonBackoff {
		p.add("AbandonMaxBackoff", "is %s, less than AbandonBackoff %s", c.AbandonMaxBackoff, c.AbandonBackoff)
	}
}

func (c Config) checkBackend(p *problems, caps ports.Capabilities) {
	if c.Tenancy == TenancyRequired && c.Admission == Fair && !caps.Admission {
		p.add("Admission", "is %q, but the backend can't share slots fairly among tenants: set Unfair if isolation without fairness is wanted", Fair)
	}
	if c.Tenancy != TenancyRequired && c.Admission == Unfair {
		p.add("Admission", "is %q without TenancyRequired, where it has no meaning", Unfair)
	}
	if c.Retention != nil {
		c.Retention.check(p, caps)
	}
}
