package compiler

// Writer is an optional interface of implementations that know which state
// fields their nodes write. The compiler uses it for warnings only; a node may
// still write what it likes.
type Writer interface{ Writes() []string }

// Reader is an optional interface of implementations that know which inputs and
// state fields their nodes read. The compiler uses it for warnings only.
type Reader interface{ Reads() []string }

// askAccess asks an implementation which fields its nodes use.
func (i *implementation) askAccess() {
	i.panicked = guarded(func() {
		w, writes := i.node.(Writer)
		r, reads := i.node.(Reader)
		if writes {
			i.writes = w.Writes()
		}
		if reads {
			i.reads = r.Reads()
		}
		i.declares = writes && reads
	})
}
