package telemetry

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/internal/host/audit"
	"github.com/kandev/assent/pipeline"
)

func TestScrape(t *testing.T) {
	tel, out := start(t, nil)
	ctx := t.Context()
	tel.Decision(ctx, approved(t))
	tel.Decision(ctx, approved(t))
	tel.Decision(ctx, broken(t))
	tel.Decision(ctx, Decision{Agent: "codex-acp", Took: -time.Second})
	for range 3 {
		tel.OfferOpened(ctx, "claude-acp")
	}
	tel.OfferClosed(ctx, "claude-acp", pipeline.Select, 90*time.Second)
	tel.NetFired(ctx, audit.Tripwire)
	tel.NetFired(ctx, "made up")
	tel.Unasked(ctx, "pi-acp", 4)
	tel.Unasked(ctx, "pi-acp", 0)
	tel.AuditDropped(7)
	text := scrape(t, tel)
	for _, line := range []string{
		`assent_decisions_total{agent="claude-acp",reason="injected_mcp",stage="option",verdict="select"} 2`,
		`assent_decisions_total{agent="other",reason="stage_error",stage="other",verdict="pend"} 1`,
		`assent_decisions_total{agent="codex-acp",reason="other",stage="none",verdict="pend"} 1`,
		`assent_decision_duration_seconds_bucket{agent="claude-acp",verdict="select",le="1e-05"} 0`,
		`assent_decision_duration_seconds_bucket{agent="claude-acp",verdict="select",le="2.5e-05"} 2`,
		`assent_decision_duration_seconds_sum{agent="claude-acp",verdict="select"} 4e-05`,
		`assent_offers_open{agent="claude-acp"} 2`,
		`assent_offer_wait_seconds_bucket{agent="claude-acp",verdict="select",le="60"} 0`,
		`assent_offer_wait_seconds_bucket{agent="claude-acp",verdict="select",le="120"} 1`,
		`assent_nets_fired_total{net="tripwire"} 1`,
		`assent_nets_fired_total{net="other"} 1`,
		`assent_tool_calls_unasked_total{agent="pi-acp"} 4`,
		`assent_audit_records_dropped_total 7`,
	} {
		assert.Contains(t, text, line+"\n")
	}
	assert.Regexp(t, `target_info\{.*service_name="assent",service_version="1\.2\.3"`, text)
	assert.NotContains(t, text, secret)
	assert.Empty(t, out.String())
}

// Every agent with a dialect is a value of its own.
func TestEveryDialectIsAnAgent(t *testing.T) {
	tel, _ := start(t, nil)
	for _, d := range dialects.All() {
		assert.Equal(t, string(d.Agent()), tel.labels.agent(d.Agent()))
	}
}

func TestOwnValuesOfAHost(t *testing.T) {
	setEnvironment(t, nil)
	tel, err := New(t.Context(), Options{Agents: []pipeline.Agent{"mine"}, Stages: []pipeline.Name{"rules"}, Reasons: []pipeline.Reason{"rule_says_no"}})
	require.NoError(t, err)
	defer tel.Shutdown(t.Context())
	tel.Decision(t.Context(), decided(t, "mine", step{name: "rules", decision: pipeline.Decision{Verdict: pipeline.Cancel, Reason: "rule_says_no"}}))
	assert.Contains(t, scrape(t, tel), `assent_decisions_total{agent="mine",reason="rule_says_no",stage="rules",verdict="cancel"} 1`)
}

// No agent, reason, stage, verdict or net, however hostile, makes a label value
// that is not in the sets.
func TestCardinalityIsBounded(t *testing.T) {
	tel, _ := start(t, nil)
	hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "claude-acp", "Claude-acp", "claude-acp ", "option", "injected_mcp", "other", "none", "tripwire", secret,
	}))
	rapid.Check(t, func(r *rapid.T) {
		agent := pipeline.Agent(hostile.Draw(r, "agent"))
		verdict := pipeline.Verdict(rapid.Byte().Draw(r, "verdict"))
		tel.Decision(t.Context(), Decision{
			Agent: agent,
			Result: pipeline.Result{
				Stage:    pipeline.Name(hostile.Draw(r, "stage")),
				Decision: pipeline.Decision{Verdict: verdict, Reason: pipeline.Reason(hostile.Draw(r, "reason"))},
			},
			Took: time.Duration(rapid.Int64().Draw(r, "took")),
		})
		tel.OfferOpened(t.Context(), agent)
		tel.OfferClosed(t.Context(), agent, verdict, time.Duration(rapid.Int64().Draw(r, "waited")))
		tel.NetFired(t.Context(), audit.Net(hostile.Draw(r, "net")))
		tel.Unasked(t.Context(), agent, rapid.IntRange(-1, 5).Draw(r, "calls"))
	})
	allowed := map[string]func(value string) bool{
		"agent":  func(v string) bool { return v == "claude-acp" || v == other },
		"stage":  func(v string) bool { return v == "option" || v == none || v == other },
		"reason": func(v string) bool { return v == "injected_mcp" || v == other },
		"verdict": func(v string) bool {
			return slices.Contains([]string{"pend", "select", "cancel", "continue", other}, v)
		},
		"net": func(v string) bool { return v == "tripwire" || v == other },
		"le":  func(string) bool { return true },
	}
	label := regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
	for line := range strings.Lines(scrape(t, tel)) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "target_info") {
			continue
		}
		for _, kv := range label.FindAllStringSubmatch(line, -1) {
			require.Contains(t, allowed, kv[1], line)
			assert.True(t, allowed[kv[1]](kv[2]), line)
		}
	}
	sets := 0
	tel.instruments.sets.Range(func(any, any) bool { sets++; return true })
	assert.LessOrEqual(t, sets, 2*3*2*5+2*5+2+2, "and neither does what is remembered grow")
}

func TestNilDoesNothing(t *testing.T) {
	var tel *Telemetry
	ctx := t.Context()
	tel.Decision(ctx, Decision{})
	tel.OfferOpened(ctx, "")
	tel.OfferClosed(ctx, "", 0, 0)
	tel.NetFired(ctx, "")
	tel.Unasked(ctx, "", 1)
	tel.AuditDropped(1)
	assert.NotNil(t, tel.Handler())
	assert.NoError(t, tel.Shutdown(ctx))
}

func TestDisabled(t *testing.T) {
	setEnvironment(t, map[string]string{"OTEL_SDK_DISABLED": "True", "OTEL_TRACES_EXPORTER": "nonsense"})
	tel, err := New(t.Context(), Options{})
	assert.NoError(t, err)
	assert.Nil(t, tel)
}

func TestAfterShutdown(t *testing.T) {
	tel, _ := start(t, nil)
	require.NoError(t, tel.Shutdown(t.Context()))
	tel.Decision(t.Context(), approved(t))
	tel.OfferOpened(t.Context(), "claude-acp")
	assert.NoError(t, tel.Shutdown(t.Context()))
}

// What a decision pays without traces.
func TestDecisionIsCheap(t *testing.T) {
	tel, _ := start(t, nil)
	d := approved(t)
	tel.Decision(t.Context(), d)
	ctx := t.Context()
	assert.LessOrEqual(t, testing.AllocsPerRun(200, func() { tel.Decision(ctx, d) }), 8.0)
}
