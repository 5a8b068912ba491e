package wire

import (
	"github.com/docket-go/docket/core/value"
)

// message is one frame, either way; exactly one of its forms is used:
//
//	{"id": "7", "op": "fetch_run", "tx": "2", "params": {…}}   a request
//	{"cancel": "7"}                                            nobody waits for 7 any more
//	{"id": "7", "result": {…}}                                 its answer
//	{"id": "7", "error": {…}}                                  or why there is none
//	{"wake": "5"}                                              for the subscription that 5 asked for
type message struct {
	id     string
	op     string
	tx     string
	params map[string]any
	result map[string]any
	fault  map[string]any
	cancel string
	wake   string
}

// frame is the message as it travels.
func (m message) frame() ([]byte, error) {
	object := map[string]any{}
	for name, text := range map[string]string{"id": m.id, "op": m.op, "tx": m.tx, "cancel": m.cancel, "wake": m.wake} {
		if text != "" {
			object[name] = text
		}
	}
	for name, part := range map[string]map[string]any{"params": m.params, "result": m.result, "error": m.fault} {
		if part != nil {
			object[name] = part
		}
	}
	frame, err := value.Append(make([]byte, headerSize, 512), object)
	if err != nil {
		return nil, malformed("", "%v", err)
	}
	return sealFrame(frame)
}

// parse reads a message of either direction and checks that it has one form.
func parse(data []byte) (m message, err error) {
	object, err := value.DecodeObject(data)
	if err != nil {
		return m, malformed("", "%v", err)
	}
	texts := map[string]*string{"id": &m.id, "op": &m.op, "tx": &m.tx, "cancel": &m.cancel, "wake": &m.wake}
	parts := map[string]*map[string]any{"params": &m.params, "result": &m.result, "error": &m.fault}
	for _, name := range value.Keys(object) {
		switch text, part := texts[name], parts[name]; {
		case text != nil:
			given, ok := object[name].(string)
			if !ok || given == "" {
				return m, wrongForm(name, "text that isn't empty", object[name])
			}
			*text = given
		case part != nil:
			given, ok := object[name].(map[string]any)
			if !ok {
				return m, wrongForm(name, "an object", object[name])
			}
			*part = given
		default:
			return m, malformed("", "there is no field %q in a message", value.Cut(name, 64))
		}
	}
	if !m.isOneForm(len(object)) {
		return m, malformed("", "it is no request, answer, cancel or wake: it has the fields %v", value.Keys(object))
	}
	return m, nil
}

func (m message) isOneForm(fields int) bool {
	switch {
	case m.cancel != "", m.wake != "":
		return fields == 1
	case m.id == "":
		return false
	case m.op != "":
		return m.result == nil && m.fault == nil
	}
	return fields == 2 && (m.result != nil || m.fault != nil)
}

func (m message) isRequest() bool { return m.op != "" }

func (m message) isAnswer() bool { return m.result != nil || m.fault != nil }
