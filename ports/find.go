package ports

// As finds an optional interface of a backend: the outermost first, then
// through Unwrap, stopping at a wrapper that is Opaque. Whoever needs one asks
// once, and also looks at Capabilities: both must agree.
//
//	if wakes, ok := ports.As[ports.WakeSource](backend); ok { … }
func As[T any](b Backend) (T, bool) {
	for b != nil {
		if found, ok := any(b).(T); ok {
			return found, true
		}
		if _, ok := b.(Opaque); ok {
			break
		}
		wrapper, ok := b.(Unwrapper)
		if !ok {
			break
		}
		b = wrapper.Unwrap()
	}
	var none T
	return none, false
}
