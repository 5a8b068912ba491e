package engine

import (
	"cmp"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/docket-go/docket/core/executor"
	"github.com/docket-go/docket/core/record"
)

// withDefaults returns the configuration with every zero value replaced by its
// meaning. What depends on another option follows that option, so that changing
// one of them doesn't ask for changing all.
func (c Config) withDefaults() Config {
	c.Tenancy = cmp.Or(c.Tenancy, TenancyNone)
	c.Admission = cmp.Or(c.Admission, Fair)
	c.Mode = cmp.Or(c.Mode, ModeProduction)
	c.Wake = cmp.Or(c.Wake, WakeAuto)

	c.Slots = cmp.Or(c.Slots, 10)
	c.ClaimTTL = cmp.Or(c.ClaimTTL, time.Minute)
	c.Poll = cmp.Or(c.Poll, min(time.Second, c.ClaimTTL/2))
	c.Renewal = cmp.Or(c.Renewal, c.ClaimTTL/3)
	c.ClaimAttempts = cmp.Or(c.ClaimAttempts, 5)
	c.StoreTimeout = cmp.Or(c.StoreTimeout, min(10*time.Second, c.ClaimTTL/6))
	c.ShutdownGrace = cmp.Or(c.ShutdownGrace, 30*time.Second)
	c.AttemptMax = cmp.Or(c.AttemptMax, 10*time.Minute)

	c.DrainMoments = cmp.Or(c.DrainMoments, 100)
	c.DrainTime = cmp.Or(c.DrainTime, 3*time.Second)

	c.AbandonBackoff = cmp.Or(c.AbandonBackoff, 30*time.Second)
	c.AbandonMaxBackoff = cmp.Or(c.AbandonMaxBackoff, max(time.Hour, c.AbandonBackoff))
	c.MaxAbandons = cmp.Or(c.MaxAbandons, 5)
	c.IncompatibleTTL = cmp.Or(c.IncompatibleTTL, 30*time.Second)

	c.MaxRunBytes = cmp.Or(c.MaxRunBytes, record.MaxRunBytes)
	c.MaxEventBytes = cmp.Or(c.MaxEventBytes, record.MaxEventBytes)
	c.MaxAbandoned = cmp.Or(c.MaxAbandoned, 4*c.Slots)

	c.RunPage = cmp.Or(c.RunPage, 100)
	c.VersionPage = cmp.Or(c.VersionPage, 100)
	c.EventPage = cmp.Or(c.EventPage, 250)
	return c.withCollaborators()
}

func (c Config) withCollaborators() Config {
	if c.Executor == nil {
		c.Executor = executor.Local{}
	}
	if c.GraphCache == nil {
		c.GraphCache = NewGraphCache(256)
	}
	c.ObserverTimeout = cmp.Or(c.ObserverTimeout, 5*time.Second)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.TracerProvider == nil {
		c.TracerProvider = otel.GetTracerProvider()
	}
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	return c
}
