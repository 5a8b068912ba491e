package record_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/docket-go/docket/core/graph"
	"github.com/docket-go/docket/core/record"
)

// TestSumGolden pins the checksum: stored records carry it.
func TestSumGolden(t *testing.T) {
	const want = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
	if got := record.Sum([]byte("{}")).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestVerify(t *testing.T) {
	data := []byte("{}")
	sum := record.Sum(data)
	for name, c := range map[string]struct {
		verify func(data []byte, enc record.Encoding) error
	}{
		"run": {func(data []byte, enc record.Encoding) error {
			return record.Run{ID: "r", Encoding: enc, Document: data, Checksum: sum}.Verify()
		}},
		"event": {func(data []byte, enc record.Encoding) error {
			return record.Event{RunID: "r", Seq: 1, Encoding: enc, Payload: data, Checksum: sum}.Verify()
		}},
		"graph": {func(data []byte, enc record.Encoding) error {
			return record.GraphVersion{Ref: graph.Ref{ID: "g", Hash: sum.String()}, Encoding: enc, Document: data}.Verify()
		}},
	} {
		if err := c.verify(data, record.EncodingJSON); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.verify([]byte("{ }"), record.EncodingJSON); !errors.Is(err, record.ErrDamaged) || errors.Is(err, record.ErrUnsupported) {
			t.Errorf("%s, other bytes: %v", name, err)
		}
		if err := c.verify(data, "zstd"); !errors.Is(err, record.ErrUnsupported) || errors.Is(err, record.ErrDamaged) || !strings.Contains(err.Error(), "zstd") {
			t.Errorf("%s, other encoding: %v", name, err)
		}
	}
}

// TestCloneSharesNothing changes every byte of a clone.
func TestCloneSharesNothing(t *testing.T) {
	build := func() (record.Transition, record.GraphVersion) {
		return record.Transition{
			Run:    record.Run{ID: "r", Document: []byte("run")},
			Events: []record.Event{{Seq: 1, Payload: []byte("one")}, {Seq: 2, Payload: []byte("two")}},
		}, record.GraphVersion{Document: []byte("graph")}
	}
	tr, g := build()
	trClone, gClone := tr.Clone(), g.Clone()
	if !reflect.DeepEqual(tr, trClone) || !reflect.DeepEqual(g, gClone) {
		t.Errorf("%+v %+v", trClone, gClone)
	}
	trClone.Run.Document[0], gClone.Document[0] = 'x', 'x'
	trClone.Events[1].Payload[0] = 'x'
	trClone.Events[0].Seq = 9
	if wantTr, wantG := build(); !reflect.DeepEqual(tr, wantTr) || !reflect.DeepEqual(g, wantG) {
		t.Errorf("changing a clone changed %+v %+v", tr, g)
	}
}
