package engine

import (
	"strings"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/core/value"
)

// owner checks a call's tenant against the tenancy before anything reaches the
// store. No call can ask for the System scope.
func (e *Engine) owner(tenant string) (record.Owner, error) {
	switch {
	case tenant == "" && e.cfg.Tenancy == TenancyRequired:
		return record.Owner{}, badTenant("the call names no tenant, and one is required")
	case tenant == "":
		return record.Owner{}, nil
	case e.cfg.Tenancy == TenancyNone:
		return record.Owner{}, badTenant("the call names a tenant, and this engine has none")
	case strings.TrimSpace(tenant) == "":
		return record.Owner{}, badTenant("the tenant is blank")
	}
	if err := value.CheckID(tenant); err != nil {
		return record.Owner{}, badTenant(err.Error())
	}
	return record.Owner{Tenant: tenant}, nil
}

func badTenant(message string) *Error {
	return &Error{Code: CodeInvalidTenant, Message: message}
}

// runOwner is owner for calls that name a run.
func (e *Engine) runOwner(tenant, runID string) (record.Owner, error) {
	o, err := e.owner(tenant)
	if err != nil {
		return o, err
	}
	if err := value.CheckID(runID); err != nil {
		return o, invalid("RunID", "%v", err)
	}
	return o, nil
}
