package postgres

import (
	"encoding/binary"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// proxy stands between clients and the server and does what networks do.
type proxy struct {
	host   string
	port   uint16
	target string
	listen net.Listener

	mu         sync.Mutex
	swallowing bool
	delay      time.Duration
	otherPID   bool
	links      map[net.Conn]bool // true: it stays silent for good
	group      sync.WaitGroup
}

func startProxy(t *testing.T, to *pgx.ConnConfig) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{
		host: "127.0.0.1", port: uint16(l.Addr().(*net.TCPAddr).Port),
		target: net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port))), listen: l, links: map[net.Conn]bool{},
	}
	p.group.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		p.cut()
		p.group.Wait()
	})
	return p
}

// swallow drops what passes without a word, as a network does that is gone.
func (p *proxy) swallow(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.swallowing = on
	if on {
		for c := range p.links {
			p.links[c] = true
		}
	}
}

// slow delays everything.
func (p *proxy) slow(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = by
}

// pretendOtherProcess changes the process id that a start-up answers, as poolers do.
func (p *proxy) pretendOtherProcess() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.otherPID = true
}

// cut breaks every link.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.links {
		c.Close()
	}
	clear(p.links)
}

func (p *proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		upstream, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.links[client], p.links[upstream] = p.swallowing, p.swallowing
		p.mu.Unlock()
		p.group.Go(func() { p.carry(upstream, client, false) })
		p.group.Go(func() { p.carry(client, upstream, true) })
	}
}

// carry copies from one side to the other until either ends.
func (p *proxy) carry(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		dead := p.links[from]
		delay, other := p.delay, p.otherPID && answers
		p.mu.Unlock()
		if other {
			changeProcess(buffer[:n])
		}
		if delay > 0 {
			timer := time.NewTimer(delay)
			<-timer.C
		}
		if !dead && n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// changeProcess finds BackendKeyData ('K', length 12) among messages.
func changeProcess(data []byte) {
	for len(data) >= 5 {
		length := int(binary.BigEndian.Uint32(data[1:])) + 1
		if length > len(data) {
			return
		}
		if data[0] == 'K' && length == 13 {
			data[8]++
		}
		data = data[length:]
	}
}
