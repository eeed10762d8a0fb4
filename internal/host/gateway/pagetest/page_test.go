package pagetest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

func TestTheBrowserRuns(t *testing.T) {
	n, err := chromedp.Run(tab(t), chromedp.Evaluate[int]("1 + 1"))
	require.NoError(t, err)
	require.Equal(t, 2, n)
}
