package engine

import (
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/docket-go/docket/core/executor"
)

// Tenancy says whether calls name a tenant.
type Tenancy string

// The tenancies. The zero Tenancy is TenancyNone.
const (
	TenancyNone     Tenancy = "none"     // a call that brings a tenant is refused
	TenancyOptional Tenancy = "optional" // without a tenant a call sees only what has none
	TenancyRequired Tenancy = "required" // a call that brings no tenant is refused
)

// Mode says who makes due runs advance.
type Mode string

// The modes. The zero Mode is ModeProduction.
const (
	ModeProduction Mode = "production"       // Run drives due runs in the background
	ModeManual     Mode = "manual"           // only Drain advances
	ModeInline     Mode = "drain_after_call" // starts and signals drain before they return
)

// WakePolicy says whether the backend's wake source is used.
type WakePolicy string

// The wake policies. The zero WakePolicy uses a source that the backend has.
const (
	WakeAuto WakePolicy = "auto"
	PollOnly WakePolicy = "poll_only" // wake latency is bounded by Poll alone
)

// Admission says what required tenancy expects of the backend.
type Admission string

// The admissions. The zero Admission is Fair: with required tenancy the backend
// must share its slots among tenants.
const (
	Fair   Admission = "fair"
	Unfair Admission = "unfair" // isolation without fairness is wanted
)

// Config tunes an engine. Every zero value has a meaning; docs/options.md is the
// table of all of them.
type Config struct {
	// Who calls.
	Tenancy   Tenancy   // default TenancyNone
	Admission Admission // default Fair; only with TenancyRequired

	// What nodes get.
	Executor    executor.Executor // default: calls the node in this process
	Application any               // handed to every node as node.Info(ctx).App
	AttemptMax  time.Duration     // bound of one node attempt; default 10 min. A node that asks for more isn't run here.

	// How due work is found and held.
	Mode          Mode             // default ModeProduction
	Clock         func() time.Time // only in ModeManual and ModeInline; default: the store's clock
	Wake          WakePolicy       // default WakeAuto
	Slots         int              // runs executed at once; default 10
	Poll          time.Duration    // between looks for due work; default 1 s, or half a shorter ClaimTTL
	ClaimTTL      time.Duration    // how long a dead worker holds a run; default 60 s
	Renewal       time.Duration    // between renewals of a claim; default, and at most, ClaimTTL/3
	ClaimAttempts int64            // claims without a committed transition before a run is poisoned; default 5
	StoreTimeout  time.Duration    // bound of one store call; default 10 s, or a sixth of a shorter ClaimTTL
	ShutdownGrace time.Duration    // for the moment at hand when Run's context ends; default 30 s

	// How much one claim does before others get their turn.
	DrainMoments int           // moments; default 100
	DrainTime    time.Duration // looked at between moments only; default 3 s

	// Runs that this host can't run.
	AbandonBackoff    time.Duration // before the first new try, then doubling; default 30 s
	AbandonMaxBackoff time.Duration // default 1 h
	MaxAbandons       int64         // before a run is poisoned; default 5
	IncompatibleTTL   time.Duration // how long a graph stays known as incompatible; default 30 s

	// Bounds on what runs may do.
	MaxSupersteps int64 // the host's bound on a run's supersteps; default none
	MaxRunBytes   int64 // a run document; default, and at most, 16 MiB
	MaxEventBytes int64 // an event's payload; default, and at most, 1 MiB
	MaxAbandoned  int   // node goroutines that ignored their deadline; default 4 × Slots

	// Compiled graphs.
	GraphCache     GraphCache // default: the 256 graphs used last
	CacheNamespace string     // keeps engines apart that share a GraphCache
	Release        string     // generation of the host's node code; default: the registry's fingerprint

	// What the host is told.
	Observers       []Observer           // after commit; isolated, may miss or repeat
	OnPoison        PoisonFunc           // after a claim poisoned a run; isolated likewise
	ObserverTimeout time.Duration        // bound of one such call; default 5 s
	Logger          *slog.Logger         // default slog.Default()
	TracerProvider  trace.TracerProvider // default: OpenTelemetry's global one
	MeterProvider   metric.MeterProvider // default: OpenTelemetry's global one

	// What is thrown away. Nothing is without an explicit policy.
	Retention *Retention

	// Page sizes when a request names none.
	RunPage     int // default 100
	VersionPage int // default 100
	EventPage   int // default 250
}
