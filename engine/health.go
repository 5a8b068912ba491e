package engine

import (
	"sync"
	"time"
)

// State is how a process's driving is doing.
type State string

// The states.
const (
	StateIdle      State = "idle"      // Run isn't at work
	StateStarting  State = "starting"  // the store hasn't answered yet
	StateOK        State = "ok"        // looking for work, and the store answers
	StateDegraded  State = "degraded"  // the store doesn't answer; trying on
	StateSaturated State = "saturated" // too many nodes ignored their deadline; nothing is claimed
	StateStopping  State = "stopping"  // finishing the moments at hand
)

// Health is the state of the driver, for probes and dashboards.
type Health struct {
	State     State
	Slots     int
	SlotsUsed int
	Abandoned int       // node goroutines that ignored their deadline and still run
	LastClaim time.Time // this process's time of the last answered claim
	Failures  int       // claims that failed since then
	LastError string    // of the last of them
}

// Health returns how driving is doing in this process.
func (e *Engine) Health() Health {
	h := e.driver.pulse.read()
	h.Slots, h.SlotsUsed, h.Abandoned = e.cfg.Slots, e.driver.slots.inUse(), e.driver.runner.Abandoned()
	if h.State == StateSaturated && !e.driver.saturated() {
		h.State = StateOK
	}
	return h
}

// pulse is what the dispatcher last noted.
type pulse struct {
	mu sync.Mutex
	h  Health
}

func (p *pulse) read() Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.h
	if h.State == "" {
		h.State = StateIdle
	}
	return h
}

func (p *pulse) set(s State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.h.State = s
}

func (p *pulse) started()   { p.set(StateStarting) }
func (p *pulse) saturated() { p.set(StateSaturated) }
func (p *pulse) stopping()  { p.set(StateStopping) }
func (p *pulse) stopped()   { p.set(StateIdle) }

func (p *pulse) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.h.State, p.h.LastClaim, p.h.Failures, p.h.LastError = StateOK, time.Now(), 0, ""
}

func (p *pulse) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.h.State = StateDegraded
	p.h.Failures++
	p.h.LastError = err.Error()
}
