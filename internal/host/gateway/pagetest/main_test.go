package pagetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/need"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "daemon":
		os.Exit(daemonMain())
	case "agent":
		os.Exit(agentMain())
	}
	code := m.Run()
	chromium.end()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// browser is one Chromium for all tests; each gets a profile of its own in it.
type browser struct {
	start sync.Once
	ctx   context.Context
	stop  context.CancelFunc
	err   error
}

var chromium browser

// begin starts it. Root may not have a sandbox, and tests may run as root.
func (b *browser) begin() {
	path, err := exec.LookPath("chromium")
	if err != nil {
		path, err = exec.LookPath("google-chrome")
	}
	if err != nil {
		b.err = fmt.Errorf("neither chromium nor google-chrome is in the PATH: %w", err)
		return
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(2*time.Minute))
	parent, endParent := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, end := chromedp.NewContext(parent)
	b.ctx, b.stop = ctx, func() {
		_ = chromedp.Cancel(ctx)
		end()
		endParent()
		chromedp.FromContext(ctx).Allocator.Wait()
	}
	b.err = chromedp.Do(ctx)
}

func (b *browser) end() {
	if b.stop != nil {
		b.stop()
	}
}

// tab opens an empty tab in a profile of its own.
func tab(t testing.TB) context.Context {
	t.Helper()
	chromium.start.Do(chromium.begin)
	need.Of(t, "Chromium", chromium.err)
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx))
	return ctx
}
