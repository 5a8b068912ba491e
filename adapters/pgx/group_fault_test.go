package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/docket-go/docket/core/record"
	"github.com/docket-go/docket/ports"
)

// TestGroupMemberHarmsNobody: a member that fails the statement undoes it whole,
// and is the only one that has the failure.
func TestGroupMemberHarmsNobody(t *testing.T) {
	t.Parallel()
	const at = 5
	random := seeded(t)
	tasks := healthy(random, 12)
	tasks[at] = randomCommit(random, "r5", ruinous)
	b, without, reqs := prepared(t, tasks), prepared(t, tasks), requests(tasks)
	before := contents(t, b)
	if _, err := b.commits.together(t.Context(), reqs); !errors.Is(err, ports.ErrConflict) || !slices.Equal(contents(t, b), before) {
		t.Errorf("the ride: %v; want a conflict that stored nothing", err)
	}
	got, rode := commits.atOnce(t, b, reqs, len(reqs), func() {})
	if !errors.Is(got[at].err, ports.ErrConflict) || rode != len(reqs) {
		t.Errorf("%d rode, and the one at fault has %v", rode, got[at].err)
	}
	want := commits.oneByOne(t, without, slices.Concat(reqs[:at], reqs[at+1:]))
	same(t, "beside a failure", b, without, slices.Delete(got, at, at+1), want)
}

// TestGroupRideIsCut: when the answer of a ride is lost, no member knows, and who
// sends its request again stores it once (RUN-13), whether the ride landed or not.
func TestGroupRideIsCut(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	for _, landed := range []bool{false, true} {
		tasks := healthy(random, 9)
		b, alone, reqs := prepared(t, tasks), prepared(t, tasks), requests(tasks)
		sends := [][]outcome{commits.oneByOne(t, alone, reqs), commits.oneByOne(t, alone, reqs)}
		send := b.commits.together
		tx := changing(t, b, `LOCK TABLE docket.docket_events`) // of a table, which a ride doesn't pass by
		cut := func() {
			if _, err := b.pool.Exec(t.Context(), `SELECT pg_terminate_backend($1, 60000)`, blocked(t, b, tx)); err != nil {
				t.Error(err)
			}
			end(t, tx.Rollback) // the session is gone, so nobody gets the lock
		}
		if landed {
			end(t, tx.Rollback)
			sends, cut = sends[1:], func() {}
			b.commits.together = func(ctx context.Context, reqs []*ports.CommitClaimed) ([]*ports.Committed, error) {
				_, err := send(ctx, reqs)
				return nil, ports.Uncertain("CommitClaimed", err)
			}
		}
		lost, rode := commits.atOnce(t, b, reqs, len(reqs), cut)
		if want := slices.Repeat([]ports.Code{ports.CodeUncertain}, len(reqs)); !slices.Equal(codes(lost), want) || rode != len(reqs) {
			t.Errorf("landed %v: %d rode and have %v", landed, rode, codes(lost))
		}
		b.commits.together = send
		for i, want := range sends {
			got, _ := commits.atOnce(t, b, reqs, len(reqs), func() {})
			if !slices.Equal(codes(got), codes(want)) {
				t.Errorf("landed %v, sent again (%d): %v; want %v", landed, i, codes(got), codes(want))
			}
		}
		same(t, "after the loss", b, alone, nil, nil)
	}
}

// TestGroupFencesHoldUnderTheLock: who commits to a row that somebody changes waits
// for it, alone, and goes by what it is then.
func TestGroupFencesHoldUnderTheLock(t *testing.T) {
	t.Parallel()
	tasks := healthy(seeded(t), 6)
	for i := range tasks {
		tasks[i].stored[0].Now, tasks[i].req.Now = epoch, epoch
		tasks[i].req.TTL = time.Second
		tasks[i].req.Transition = next(tasks[i].stored[0].Transition.Run, record.ScheduleRetain)
	}
	b := prepared(t, tasks)
	tx := changing(t, b, `UPDATE docket.docket_runs SET claim_end = claim_end + interval '1 day' WHERE run_id = 'r1'`,
		`UPDATE docket.docket_runs SET claim_token = 'another' WHERE run_id = 'r2'`,
		`UPDATE docket.docket_runs SET checkpoint_seq = 2 WHERE run_id = 'r3'`,
		`DELETE FROM docket.docket_runs WHERE run_id = 'r4'`)
	got, rode := commits.atOnce(t, b, requests(tasks), len(tasks), func() {
		blocked(t, b, tx)
		end(t, tx.Commit)
	})
	if want := []ports.Code{"", "", ports.CodeStale, ports.CodeStale, ports.CodeNotFound, ""}; !slices.Equal(codes(got), want) || rode != len(tasks) {
		t.Errorf("%d rode and have %v, want %v", rode, codes(got), want)
	}
	for i, ttl := range []time.Duration{time.Hour, 25 * time.Hour} {
		if want := epoch.Add(ttl); !got[i].answer.ClaimEnd.Equal(want) || !inspect(t, b, fmt.Sprint("r", i)).ClaimEnd.Equal(want) {
			t.Errorf("r%d: %+v, want the claim to end at %v", i, got[i], want)
		}
	}
	if r := inspect(t, b, "r2").Run; r.CheckpointSeq != 1 || r.EventSeq != 1 {
		t.Errorf("the run of another token: %+v", r)
	}
}

// TestGroupWaitsForNobody: whoever has to wait for a lock that somebody holds, for
// as long as he likes, waits alone: for a row, for a version, for a run id that
// isn't committed yet. More callers than there are lanes do.
func TestGroupWaitsForNobody(t *testing.T) {
	t.Parallel()
	tasks := healthy(seeded(t), 40)
	for i := range tasks {
		tasks[i].req.Transition = next(tasks[i].stored[0].Transition.Run, record.ScheduleRetain)
	}
	b, ref := prepared(t, tasks), version("g", `{"id":"g"}`).Ref
	const held = 2 * alone
	b = openAt(t, open(t, urlOf(b.pool.Config().ConnConfig), 2*held+8), b.cfg) // who waits has a connection
	tx := changing(t, b, `UPDATE docket.docket_runs SET attempts = attempts WHERE substr(run_id, 2)::int < `+fmt.Sprint(held))
	host := b.WithTx(tx)
	var starts []*ports.InsertRun
	for i := range 40 {
		starts = append(starts, &ports.InsertRun{Transition: first(fmt.Sprint("new-", i), ref)})
		if i < held {
			if _, err := host.InsertRun(t.Context(), *starts[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	var waiting, others sync.WaitGroup
	for i := range 40 {
		group, want := &others, error(nil)
		if i < held {
			group, want = &waiting, ports.ErrExists
		}
		group.Go(func() {
			if _, err := b.CommitClaimed(t.Context(), *tasks[i].req); err != nil {
				t.Errorf("commit %d: %v", i, err)
			}
		})
		group.Go(func() {
			if _, err := b.InsertRun(t.Context(), *starts[i]); !errors.Is(err, want) {
				t.Errorf("insert %d: %v, want %v", i, err, want)
			}
		})
	}
	others.Wait() // while the host holds its locks
	end(t, tx.Commit)
	waiting.Wait()
}

// TestGroupOneWins: of equal commits that are sent at once, exactly one applies
// (RUN-7), and the store is as after that one.
func TestGroupOneWins(t *testing.T) {
	t.Parallel()
	tasks := healthy(seeded(t), 40)
	b, alone, reqs := prepared(t, tasks), prepared(t, tasks), requests(tasks)
	commits.oneByOne(t, alone, reqs)
	got, _ := commits.atOnce(t, b, slices.Concat(reqs, reqs, reqs), len(reqs), func() {})
	for i := range reqs {
		have := codes([]outcome{got[i], got[i+len(reqs)], got[i+2*len(reqs)]})
		if slices.Sort(have); !slices.Equal(have, []ports.Code{"", ports.CodeStale, ports.CodeStale}) {
			t.Errorf("%s: %v", reqs[i].RunID, have)
		}
	}
	same(t, "one of three", b, alone, nil, nil)
}

// TestGroupTellsOfDueRuns: a ride that leaves one run due among others wakes whoever
// waits elsewhere.
func TestGroupTellsOfDueRuns(t *testing.T) {
	t.Parallel()
	tasks := healthy(seeded(t), 5)
	b, ref := prepared(t, tasks), version("g", `{"id":"g"}`).Ref
	for i := range tasks {
		tasks[i].req.Transition = next(tasks[i].stored[0].Transition.Run, record.ScheduleRetain)
	}
	tasks[2].req.Transition.Schedule.Kind = record.ScheduleImmediate
	wakes := subscribe(t, openAt(t, b.pool, b.cfg))
	answers, err := b.commits.together(t.Context(), requests(tasks))
	if err != nil || slices.Contains(answers, nil) {
		t.Fatalf("%v, %v", answers, err)
	}
	woken(t, wakes, "a ride of commits")
	fresh, later := ports.InsertRun{Transition: first("due", ref)}, ports.InsertRun{Transition: first("later", ref)}
	later.Transition.Schedule = record.Schedule{Kind: record.ScheduleAt, At: epoch}
	if _, err := b.inserts.together(t.Context(), []*ports.InsertRun{&fresh, &later}); err != nil {
		t.Fatal(err)
	}
	woken(t, wakes, "a ride of inserts")
}

// TestGroupOnOtherDefaults: rides are as good where each statement travels inside
// BEGIN and COMMIT, and where none is prepared; where nothing listens, a due run is
// told in the process.
func TestGroupOnOtherDefaults(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*pgxpool.Config){
		"serializable": func(cfg *pgxpool.Config) {
			cfg.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
		},
		"not prepared": func(cfg *pgxpool.Config) { cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec },
		"simple":       func(cfg *pgxpool.Config) { cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tasks := healthy(seeded(t), 12)
			tasks[3].req.Transition = next(tasks[3].stored[0].Transition.Run, record.ScheduleImmediate)
			there, alone, reqs := prepared(t, tasks), prepared(t, tasks), requests(tasks)
			b := openAt(t, open(t, urlOf(there.pool.Config().ConnConfig), 8, change), Config{Schema: there.cfg.Schema, PollOnly: true})
			wakes := subscribe(t, b)
			got, rode := commits.atOnce(t, b, reqs, len(reqs), func() {})
			woken(t, wakes, "a ride of commits")
			later := first("later", version("g", `{"id":"g"}`).Ref)
			fresh := []*ports.InsertRun{{Transition: first("due", later.Run.Graph)}, {Transition: later, Owner: owner("t")}}
			started, startedRode := inserts.atOnce(t, b, fresh, len(fresh), func() {})
			woken(t, wakes, "a ride of inserts")
			if rode != len(reqs) || startedRode != len(fresh) {
				t.Errorf("%d and %d rode", rode, startedRode)
			}
			want := append(commits.oneByOne(t, alone, reqs), inserts.oneByOne(t, alone, fresh)...)
			same(t, name, b, alone, append(got, started...), want)
		})
	}
}

// TestGroupClosed: Close waits for no ride, and who calls later isn't made to
// either (LIF-5); what is on its way arrives.
func TestGroupClosed(t *testing.T) {
	t.Parallel()
	tasks := healthy(seeded(t), 9)
	b, reqs := prepared(t, tasks), requests(tasks)
	b = openAt(t, b.pool, b.cfg)
	tx := changing(t, b, `LOCK TABLE docket.docket_events`)
	got, rode := commits.atOnce(t, b, reqs, len(reqs), func() {
		blocked(t, b, tx)
		end(t, func(context.Context) error { return b.Close() })
		_, commitErr := b.CommitClaimed(t.Context(), *reqs[0])
		_, insertErr := b.InsertRun(t.Context(), tasks[0].stored[0])
		if !errors.Is(commitErr, ports.ErrClosed) || !errors.Is(insertErr, ports.ErrClosed) {
			t.Errorf("after Close: %v, %v", commitErr, insertErr)
		}
		end(t, tx.Rollback)
	})
	if want := slices.Repeat([]ports.Code{""}, len(reqs)); !slices.Equal(codes(got), want) || rode != len(reqs) {
		t.Errorf("%d rode and have %v", rode, codes(got))
	}
}

// changing holds the locks of some changes until the test ends them.
func changing(t *testing.T, b *Backend, changes ...string) pgx.Tx {
	t.Helper()
	tx, err := b.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) })
	for _, sql := range changes {
		if _, err := tx.Exec(t.Context(), b.place.sql(sql)); err != nil {
			t.Fatal(err)
		}
	}
	return tx
}

func end(t *testing.T, how func(context.Context) error) {
	t.Helper()
	if err := how(t.Context()); err != nil {
		t.Error(err)
	}
}

// blocked is the session that waits for a transaction, once there is one.
func blocked(t *testing.T, b *Backend, tx pgx.Tx) (pid uint32) {
	t.Helper()
	for err := pgx.ErrNoRows; err != nil && pause(t.Context(), time.Millisecond); {
		err = b.pool.QueryRow(t.Context(), `SELECT pid FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))`,
			tx.Conn().PgConn().PID()).Scan(&pid)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			t.Fatal(err)
		}
	}
	return pid
}
