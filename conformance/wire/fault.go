package wire

import (
	"errors"
	"strings"

	"github.com/docket-go/docket/ports"
)

// codeOther is how an error outside the closed set of ports travels. It is never
// conformant, but it is told.
const codeOther = "other"

// fault is an error as it travels.
type fault struct {
	Code    string
	Detail  string
	Path    string
	Message string
}

// faultOf takes an error apart. Its message is what the error says behind the
// text that every error of its code begins with, so a text that tells too much
// arrives (SCP-3).
func faultOf(err error) map[string]any {
	f := fault{Code: codeOther, Message: err.Error()}
	if code := ports.CodeOf(err); code != "" {
		f.Code = string(code)
		f.Message = strings.TrimPrefix(strings.TrimPrefix(f.Message, code.Err().Error()), ": ")
	}
	var known *ports.Error
	if errors.As(err, &known) {
		f.Detail, f.Path = string(known.Detail), known.Path
	}
	f.Message, f.Path = strings.ToValidUTF8(f.Message, "\uFFFD"), strings.ToValidUTF8(f.Path, "\uFFFD")
	object, wrong := encode(f, "error")
	if wrong != nil { // a detail that isn't UTF-8: keep what can travel
		return map[string]any{"code": f.Code, "message": f.Message}
	}
	return object
}

// errorOf makes an error of what an agent answered. Cause is the end of the
// call's context, nil while it lives: an agent only knows that it was cancelled.
func errorOf(op string, object map[string]any, cause error) error {
	var f fault
	if err := decode(object, "error", &f); err != nil {
		return err
	}
	code := ports.Code(f.Code)
	sentinel := code.Err()
	if sentinel == nil {
		if f.Code == codeOther {
			return errors.New("the agent answered an error outside the contract: " + f.Message)
		}
		return malformed("error.code", "%q is not a code of the contract", f.Code)
	}
	known := &ports.Error{Code: code, Detail: ports.Detail(f.Detail), Op: op, Path: f.Path, Message: f.Message}
	if cause != nil && (code == ports.CodeUnavailable || code == ports.CodeUncertain) {
		known.Err = cause
	}
	text := sentinel.Error()
	if f.Message != "" {
		text += ": " + f.Message
	}
	return &answered{known, text}
}

// answered is an error with the very text that the agent gave it.
type answered struct {
	known *ports.Error
	text  string
}

func (a *answered) Error() string { return a.text }
func (a *answered) Unwrap() error { return a.known }

// lost is the error of a call whose answer will not come.
func lost(op string, sent, writes bool, cause error) error {
	if sent && writes {
		return ports.Uncertain(op, cause)
	}
	return ports.Unavailable(op, cause)
}
