package canary

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kandev/assent/internal/host/config"
	"github.com/kandev/assent/internal/host/process"
)

// Variables of the agent process.
const (
	agentVariable = "CANARY_TEST_AGENT"
	envVariable   = "CANARY_TEST_KEY" // a secret is in it
)

func TestMain(m *testing.M) {
	if os.Getenv(agentVariable) != "" {
		(&agent{in: bufio.NewReader(os.Stdin)}).main()
	}
	goleak.VerifyTestMain(m)
}

// planted lists the places, apart from what may be seen in some sink.
var planted = []place{
	inTitle, inLaterTitle, inCommand, inPath, inURL, inLabel, inOptionKind, inArguments, inContent, inMeta, inToolName, inDialectName,
	inKind, inMessage, inNoise, inBatch, inUnreadable, inMethod, inRPCError, inStderr, inStageError, inServerHeader,
	inServerURL, inServerEnv, inServerArgs, inAgentEnv, inAgentArgs, inWrongBearer, inMCPTool, inMCPArguments, inMCPPath, inPanic,
	inOTLPHeader, inOTLPURL, inWrongAnswer, inWrongRequest, inUnseenOption, inPlainTitle, inPlainArguments, inStartupFailed, inCallID,
}

// Nothing that was planted anywhere is in anything that the host writes down.
func TestCanary(t *testing.T) {
	e := play(t)
	secrets := map[string]string{"endpoint secret": e.endpointSecret, "another session's secret": e.ownSecret}
	for _, p := range planted {
		secrets[string(p)] = p.core()
	}
	require.NotEmpty(t, e.endpointSecret)
	for sink, text := range e.sinks {
		require.NotEmpty(t, text, "nothing was written to %s", sink)
		for what, secret := range secrets {
			assertAbsent(t, sink, text, what, secret)
		}
		if sink != "snapshots" {
			assertAbsent(t, sink, text, "option id", inOptionID.core())
		}
	}
	for _, p := range []place{inServerHeader, inServerEnv, inServerURL} { // a person may see much, but not what the host gave the agent
		assertAbsent(t, "what a person is shown of a failure", e.failures, string(p), p.core())
	}
	assertAbsent(t, "what a person is shown of a failure", e.failures, "endpoint secret", e.endpointSecret)
	assertAbsent(t, "recording", e.recording, "endpoint secret", e.endpointSecret)
}

// assertAbsent fails with the surroundings of what it finds.
func assertAbsent(t *testing.T, sink, text, what, secret string) {
	t.Helper()
	at := strings.Index(strings.ToLower(text), strings.ToLower(secret))
	if at >= 0 {
		t.Errorf("the secret in %q is in %s: …%s…", what, sink, text[max(0, at-160):min(len(text), at+80)])
	}
}

// The secrets really went all the way: a test of nothing finds nothing.
func TestTheSecretsWereThere(t *testing.T) {
	e := play(t)
	endpoints := []place{inWrongBearer, inMCPTool, inMCPArguments, inMCPPath, inPanic}
	host := []place{inServerHeader, inServerURL, inServerEnv, inServerArgs, inAgentEnv, inAgentArgs, inOTLPHeader, inOTLPURL, inWrongAnswer, inWrongRequest, inStderr}
	for _, p := range planted {
		if !slices.Contains(endpoints, p) && !slices.Contains(host, p) {
			assert.Contains(t, e.wire, p.core(), "the agent did not send the secret in %q", p)
		}
	}
	for _, p := range []place{inServerArgs, inAgentEnv, inAgentArgs, inStderr, inRPCError} {
		assert.Contains(t, e.failures, p.core(), "the agent did not get, or not tell, the secret in %q", p)
	}
	assert.Contains(t, e.failures, "(hidden)")
	assert.Contains(t, e.arrived, inMCPTool.core())
	assert.Contains(t, e.details, inArguments.core(), "a person who asks sees the arguments")
	assert.Contains(t, e.details, inContent.core())
	assert.Contains(t, e.otlp, inOTLPHeader.core())
	assert.Contains(t, e.otlp, inOTLPURL.core())
	assert.Contains(t, e.wire, e.endpointSecret)
	assert.Contains(t, e.recording, "Bearer redacted")

	for sink, words := range map[string][]string{
		"logs": {"agent started", "msg=decision", "msg=answer", "refused a request", "is no message", "batch", "a net around the pipeline", "never arrived",
			"nobody had been asked", "panicked", "telemetry cannot be sent", "blanket_first_option", "agent ended", "cannot be answered", "does not serve"},
		"audit":     {`"event":"decision"`, `"event":"answer"`, `"net":"witness"`, `"net":"tripwire"`, `"event":"unasked"`, `"option_kind":"other"`},
		"metrics":   {"assent_decisions_total", "assent_offer_wait_seconds", "assent_nets_fired_total", `reason="stage_error"`},
		"traces":    {"permission decision", "stage_error"},
		"snapshots": {"[hidden:", inOptionID.core(), `"command"`, `"path"`, `"destination"`},
		"errors":    {"no such option", "pending: ", "process: the agent answered session/new", "exit status 7", "telemetry: ", "config: "},
	} {
		for _, word := range words {
			assert.True(t, strings.Contains(e.sinks[sink], word), "%s has no %s", sink, word)
		}
	}
	assert.Contains(t, e.answers, inOptionID.core(), "an option id is in the answer that selects it")
}

// settings are those of the instance, with the user's own servers.
func settings() config.Config {
	return config.Config{Agent: "claude-acp", MCPServers: config.Servers{
		{Name: "web", Type: config.TypeHTTP, URL: "http://127.0.0.1:9/?key=" + inServerURL.token(), Headers: []config.Header{{Name: "X-Key", Value: inServerHeader.token()}}},
		{Name: "tool", Command: "/bin/true", Args: []string{"--key", inServerArgs.token()}, Env: []config.EnvVar{{Name: "KEY", Value: inServerEnv.token()}}},
	}}
}

// command is the agent, with secrets in its arguments and its environment.
func command() process.Command {
	return process.Command{
		Path: os.Args[0], Args: []string{"-key", inAgentArgs.token()},
		Env: append(os.Environ(), agentVariable+"=1", envVariable+"="+inAgentEnv.token(), "GORACE=atexit_sleep_ms=0"),
	}
}

// written is how a careless host would put a value into a text.
func written(v any) string { return fmt.Sprintf("%v %+v %#v %s %q", v, v, v, v, v) }
