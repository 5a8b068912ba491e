package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/docket-go/docket/ports"
)

// listener keeps one connection that listens to a channel. It is outside the
// pool, so that it takes nobody's place, and it is closed, never given on: a
// session that still listens is of no use to others.
type listener struct {
	config    *pgx.ConnConfig
	channel   string
	heartbeat time.Duration
	tell      func()

	conn *pgx.Conn
}

// The wait between attempts to connect again: doubling, with jitter, so that a
// fleet doesn't come back at the same moment.
const (
	firstReconnect = 50 * time.Millisecond
	lastReconnect  = 15 * time.Second
)

// connect opens a fresh connection and listens. Behind a transaction pooler
// LISTEN would succeed and nothing would ever be heard: the server then has
// another process for the session than the one that answered the start-up.
func (l *listener) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.heartbeat)
	defer cancel()
	config := l.config.Copy()
	config.RuntimeParams["application_name"] = l.channel // for pg_stat_activity
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	var process uint32
	_, err = conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.channel}.Sanitize(), pgx.QueryExecModeSimpleProtocol)
	if err == nil {
		err = conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&process)
	}
	if err == nil && process != conn.PgConn().PID() {
		err = ports.Unsupported("Wakes",
			"the listening connection goes through a pooler: give Config.Listen the server's own address, or set Config.PollOnly")
	}
	if err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	l.conn = conn
	return nil
}

// run listens until ctx ends, on a fresh connection whenever one is lost, and
// tells after every subscription that it renewed (WAK-2).
func (l *listener) run(ctx context.Context) {
	defer l.hangUp()
	for {
		l.listen(ctx)
		l.hangUp()
		if !l.reconnect(ctx) {
			return
		}
		l.tell()
	}
}

func (l *listener) reconnect(ctx context.Context) bool {
	wait := firstReconnect
	for {
		if !pause(ctx, wait/2+rand.N(wait)) {
			return false
		}
		if l.connect(ctx) == nil {
			return true
		}
		wait = min(2*wait, lastReconnect)
	}
}

// listen returns when the connection is lost or ctx ends. A link that is dead
// without having said so is found by asking the server after each silence.
func (l *listener) listen(ctx context.Context) {
	for {
		waiting, cancel := context.WithTimeout(ctx, l.heartbeat)
		_, err := l.conn.WaitForNotification(waiting)
		silent := waiting.Err() != nil
		cancel()
		switch {
		case err == nil:
			l.tell()
		case ctx.Err() != nil || !silent || l.conn.IsClosed():
			return
		case l.ping(ctx) != nil:
			return
		}
	}
}

func (l *listener) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.heartbeat)
	defer cancel()
	return l.conn.Ping(ctx)
}

// hangUp closes the connection, for a second at most in good order.
func (l *listener) hangUp() {
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = l.conn.Close(ctx)
	l.conn = nil
}
