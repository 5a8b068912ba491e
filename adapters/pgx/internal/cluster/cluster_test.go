package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const roleVariable = "DOCKET_CLUSTER_TEST_ROLE"

// TestMain lets the test binary be a process that starts a cluster and is killed.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "" {
		os.Exit(m.Run())
	}
	c, err := Start(context.Background(), Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(c.dir)
	select {}
}

func started(t *testing.T, cfg Config) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), cfg)
	if errors.Is(err, ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func ask(t *testing.T, c *Cluster, sql string) (answer string, err error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.URL("postgres"))
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	err = conn.QueryRow(t.Context(), sql).Scan(&answer)
	return answer, err
}

// TestLife starts, crashes, resumes and closes a cluster.
func TestLife(t *testing.T) {
	t.Parallel()
	c := started(t, Config{Settings: map[string]string{"work_mem": "3MB"}})
	if got, err := ask(t, c, "SHOW work_mem"); err != nil || got != "3MB" {
		t.Errorf("%q, %v", got, err)
	}
	url := c.URL("postgres")
	for range 2 { // the second time there is nothing to crash
		if err := c.Crash(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask(t, c, "SHOW work_mem"); err == nil {
		t.Error("a crashed server answers")
	}
	for range 2 {
		if err := c.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ask(t, c, "SHOW work_mem"); err != nil || got != "3MB" || c.URL("postgres") != url {
		t.Errorf("%q, %v; want the same server at the same place", got, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
}

// TestSettingsThatDoNotWork are told with the server's own words.
func TestSettingsThatDoNotWork(t *testing.T) {
	t.Parallel()
	if _, err := Find(); err != nil {
		t.Skip(err)
	}
	_, err := Start(t.Context(), Config{Settings: map[string]string{"shared_buffers": "nothing"}})
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") {
		t.Errorf("got %v, want an error that names the setting", err)
	}
}

// TestKilledProcess: a cluster goes with its process, however that ends.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	if _, err := Find(); err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=start")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dir = strings.TrimSpace(dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 1000 {
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			return
		}
		<-tick.C
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	t.Errorf("after 20 s there still is %q", left)
}

func TestMajor(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]int{"/usr/lib/postgresql/15/bin": 15, "/usr/lib/postgresql/9.6/bin": 9, "/usr/local/pgsql/bin": 0} {
		if got := major(dir); got != want {
			t.Errorf("%s: %d, want %d", dir, got, want)
		}
	}
}
