package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
)

func framed(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestReadFrame(t *testing.T) {
	t.Parallel()
	in := bytes.NewReader(append(framed("one"), framed(strings.Repeat("x", 3<<20))...))
	for _, want := range []int{3, 3 << 20} {
		got, err := readFrame(in)
		if err != nil || len(got) != want {
			t.Fatalf("%d bytes, %v; want %d", len(got), err, want)
		}
	}
	if _, err := readFrame(in); err != io.EOF {
		t.Errorf("at the end: %v, want io.EOF itself", err)
	}
}

// A frame that breaks off or can't be is an error that says what it is.
func TestReadFrameRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, says string }{
		{"half a length", "\x00\x00", "ends 2 bytes into a frame's length"},
		{"half a frame", string(framed("whole")[:6]), "ends 2 bytes into a frame of 5"},
		{"nothing after the length", "\x00\x00\x00\x05", "ends 0 bytes into a frame of 5"},
		{"an empty frame", "\x00\x00\x00\x00", "a frame of 0 bytes"},
		{"too long a frame", "\x7f\x00\x00\x00", "a frame of 2130706432 bytes"},
		{"a print statement", "hello, world\n", `begins with the text "hell"`},
	} {
		_, err := readFrame(strings.NewReader(c.in))
		var m *Malformed
		if !errors.As(err, &m) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %q", c.name, err, c.says)
		}
	}
}

// A length that lies costs no memory: the reader grows with what arrives.
func TestReadFrameGrowsWithItsInput(t *testing.T) {
	lying := append(binary.BigEndian.AppendUint32(nil, MaxFrame), 'x')
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			_, _ = readFrame(bytes.NewReader(lying))
		}
	}).AllocedBytesPerOp()
	if allocated > 4<<20 {
		t.Errorf("%d bytes for a frame of one", allocated)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ message, says string }{
		{`{`, "malformed message"},
		{`[]`, "object"},
		{`{}`, "no request, answer, cancel or wake"},
		{`{"id":"1"}`, "no request, answer, cancel or wake"},
		{`{"id":"1","id":"2","op":"x"}`, "id"},
		{`{"id":1,"op":"x"}`, "id: want text"},
		{`{"id":"","op":"x"}`, "id: want text"},
		{`{"op":"fetch_run"}`, "no request"},
		{`{"id":"1","result":{},"error":{}}`, "no request"},
		{`{"id":"1","op":"x","result":{}}`, "no request"},
		{`{"id":"1","tx":"2","result":{}}`, "no request"},
		{`{"cancel":"1","wake":"1"}`, "no request"},
		{`{"id":"1","op":"x","params":[]}`, "params: want an object, got a list"},
		{`{"id":"1","op":"x","parms":{}}`, `no field "parms"`},
	} {
		if _, err := parse([]byte(c.message)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to say %q", c.message, err, c.says)
		}
	}
}

// FuzzMessages reads whatever comes: no panic, no endless reading, and what is
// taken is written again as it was.
func FuzzMessages(f *testing.F) {
	for _, body := range []string{
		`{"id":"1","op":"fetch_run","params":{"scope":{"kind":"system"},"run_id":"r","now":"1"}}`,
		`{"id":"1","result":{}}`, `{"id":"1","error":{"code":"stale"}}`, `{"cancel":"1"}`, `{"wake":"1"}`, `{`, "", "\xff",
	} {
		f.Add(framed(body))
	}
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bytes.NewReader(data)
		for {
			body, err := readFrame(in)
			if err != nil {
				return
			}
			m, err := parse(body)
			if err != nil {
				continue
			}
			if o, ok := operations[m.op]; ok {
				fuzzOperation(t, o, m)
			}
			frame, err := m.frame()
			if err != nil {
				t.Fatalf("%q was taken and can't be written: %v", body, err)
			}
			again, err := parse(frame[headerSize:])
			if err != nil {
				t.Fatalf("%q became %q: %v", body, frame[headerSize:], err)
			}
			if twice, err := again.frame(); err != nil || !bytes.Equal(frame, twice) {
				t.Fatalf("%q, written twice, is %q and %q (%v)", body, frame, twice, err)
			}
		}
	})
}
