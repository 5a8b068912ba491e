package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// MaxFrame is the most bytes that one message may have, either way: room for the
// largest run document in base64 with its events.
const MaxFrame = 64 << 20

const headerSize = 4

// Malformed is a message that breaks the protocol.
type Malformed struct {
	Path    string // the part of the message, e.g. "params.transition.run.step"; "" is all of it
	Message string
}

// Error tells the place and what is wrong there.
func (m *Malformed) Error() string {
	if m.Path == "" {
		return "wire: malformed message: " + m.Message
	}
	return "wire: malformed message: " + m.Path + ": " + m.Message
}

func malformed(path, format string, args ...any) *Malformed {
	return &Malformed{Path: path, Message: fmt.Sprintf(format, args...)}
}

// sealFrame writes the header of a message that was encoded behind headerSize
// free bytes.
func sealFrame(frame []byte) ([]byte, error) {
	size := len(frame) - headerSize
	if size > MaxFrame {
		return nil, malformed("", "%d bytes are over the limit of %d for a frame", size, MaxFrame)
	}
	binary.BigEndian.PutUint32(frame, uint32(size))
	return frame, nil
}

// readFrame reads one message. It answers io.EOF only at the end of the last
// frame, and never allocates more than what has arrived asks for.
func readFrame(r io.Reader) ([]byte, error) {
	var header [headerSize]byte
	if n, err := io.ReadFull(r, header[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, malformed("", "the input ends %d bytes into a frame's length", n)
		}
		return nil, err
	}
	size := binary.BigEndian.Uint32(header[:])
	if size == 0 || size > MaxFrame {
		return nil, malformed("", "a frame of %d bytes, where 1 to %d are allowed%s", size, MaxFrame, textHint(header[:]))
	}
	data, err := readGrowing(r, int(size))
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, malformed("", "the input ends %d bytes into a frame of %d", len(data), size)
		}
		return nil, err
	}
	return data, nil
}

// readGrowing reads size bytes in pieces: a length that lies costs no memory.
func readGrowing(r io.Reader, size int) ([]byte, error) {
	const piece = 1 << 20
	data := make([]byte, 0, min(size, piece))
	for len(data) < size {
		next := min(size-len(data), piece)
		if cap(data)-len(data) < next {
			grown := make([]byte, len(data), min(size, 2*cap(data)+next))
			copy(grown, data)
			data = grown
		}
		n, err := io.ReadFull(r, data[len(data):len(data)+next])
		data = data[:len(data)+n]
		if err != nil {
			return data, err
		}
	}
	return data, nil
}

// textHint recognises the commonest mistake of an agent: a print statement.
func textHint(header []byte) string {
	for _, b := range header {
		if (b < ' ' || b > '~') && b != '\n' && b != '\r' && b != '\t' {
			return ""
		}
	}
	return fmt.Sprintf(" (it begins with the text %q: standard output is for frames only, print to standard error)", header)
}
