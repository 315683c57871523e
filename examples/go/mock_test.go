package wallet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// server is the address of the mock: one that runs already, or the one that TestMain starts.
var server = os.Getenv("CROSSCHAIN_MOCK_URL")

func TestMain(m *testing.M) {
	stop := func() {}
	if server == "" {
		stop = start()
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

func start() func() {
	folder, err := os.MkdirTemp("", "mock")
	must(err)
	ready := filepath.Join(folder, "ready.json")
	command := exec.Command("crosschain-mock", "serve", "--port", "0", "--clock", "frozen", "--ready-file", ready)
	command.Stderr = os.Stderr
	must(command.Start())
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if text, err := os.ReadFile(ready); err == nil {
			var told struct{ URL string }
			must(json.Unmarshal(text, &told))
			server = told.URL
			break
		}
		if time.Now().After(deadline) {
			must(fmt.Errorf("crosschain-mock did not start"))
		}
	}
	return func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
		_ = os.RemoveAll(folder)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// World is a world of the mock that no other test sees.
type World struct {
	*testing.T
	URL string
}

// NewWorld returns a world that is checked when the test ends.
func NewWorld(t *testing.T) World {
	world := World{t, fmt.Sprintf("%s/w/%s-%d", server, strings.ReplaceAll(t.Name(), "/", "-"), time.Now().UnixNano())}
	t.Cleanup(world.check)
	return world
}

// Now returns the time of the world.
func (w World) Now() time.Time {
	var clock struct{ Ms int64 }
	w.control("GET", "/clock", nil, &clock)
	return time.UnixMilli(clock.Ms)
}

// Advance moves the clock by a duration such as "5m".
func (w World) Advance(duration string) {
	w.control("POST", "/clock", map[string]any{"advance": duration}, nil)
}

// Suspend puts a chain out of service.
func (w World) Suspend(chain, mode, lasting string) {
	w.control("POST", "/outages", map[string]any{"chain": chain, "mode": mode, "for": lasting}, nil)
}

// Fail disturbs the answers of an operation.
func (w World) Fail(fault map[string]any) { w.control("POST", "/faults", fault, nil) }

// Expect announces a refusal that the test causes on purpose.
func (w World) Expect(refusal string) {
	w.control("POST", "/expect", map[string]any{"refusal": refusal}, nil)
}

// Orders returns how many orders this world has taken.
func (w World) Orders() int {
	var told struct{ Orders []any }
	w.control("GET", "/orders", nil, &told)
	return len(told.Orders)
}

// check fails the test for refusals that it did not expect, for faults and outages that met no
// request, and for money that the audit misses.
func (w World) check() {
	var check struct{ Told []string }
	w.control("GET", "/check?audit=true", nil, &check)
	for _, text := range check.Told {
		w.Error(text)
	}
}

func (w World) control(method, path string, body, told any) {
	w.Helper()
	text, err := json.Marshal(body)
	must(err)
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, w.URL+"/__mock"+path, sent)
	must(err)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	must(err)
	if answer.StatusCode != http.StatusOK {
		w.Fatalf("%s %s: %s", method, path, text)
	}
	if told != nil {
		must(json.Unmarshal(text, told))
	}
}
