package endpoint

//lint:file-ignore SA1019 agents and servers go on using what MCP 2026-07-28 deprecates

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// talker is an agent that hears what comes on its own, and answers.
func (b bench) talker(t *testing.T, s *Session, path, version string) (*mcp.ClientSession, chan string) {
	t.Helper()
	heard := make(chan string, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, &mcp.ClientOptions{
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { heard <- "tools" },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { heard <- "prompts" },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { heard <- "resources" },
		ResourceUpdatedHandler:     func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			heard <- fmt.Sprint(r.Params.ProgressToken, "=", r.Params.Progress)
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { heard <- fmt.Sprint(r.Params.Data) },
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m1", Role: "assistant", Content: &mcp.TextContent{Text: "!"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///home"})
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: b.url("127.0.0.1", path), HTTPClient: httpClient(t, s.Authorization())}
	if path == "/sse" {
		transport = &mcp.SSEClientTransport{Endpoint: b.url("127.0.0.1", path), HTTPClient: httpClient(t, s.Authorization())}
	}
	cs, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = cs.Close() })
	return cs, heard
}

func TestFrontStreamsProgressAndLogs(t *testing.T) {
	// One that answers with JSON sends nothing before the answer.
	streaming := slices.DeleteFunc(slices.Clone(targetKinds), func(kind string) bool { return kind == "json" })
	everyPair(t, streaming, func(t *testing.T, _ *served, b bench, session *Session, path, version string) {
		cs, heard := b.talker(t, session, path, version)
		if version == legacy {
			require.NoError(t, cs.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}))
		}
		_, err := call(t.Context(), cs, "progress", nil, mcp.Meta{"progressToken": "tok"})
		require.NoError(t, err)
		var tokens, logs []string
		for len(tokens) < 3 || version == legacy && len(logs) < 3 {
			m := <-heard
			if strings.HasPrefix(m, "tok") {
				tokens = append(tokens, m)
			} else {
				logs = append(logs, m)
			}
		}
		assert.Equal(t, []string{"tok=1", "tok=2", "tok=3"}, tokens)
		if version == legacy { // the others say with each call whether they want any
			assert.Equal(t, []string{"step 1", "step 2", "step 3"}, logs)
		}
	})
}

func TestFrontTellsOfChangedLists(t *testing.T) {
	for _, kind := range []string{"stateful", "sse", "modern"} {
		for _, agent := range agentKinds {
			t.Run(kind+agent[0]+" "+agent[1], func(t *testing.T) {
				s := serveTarget(t, kind)
				b := front(t, s.at)
				session := b.session(t)
				cs, heard := b.talker(t, session, agent[0], agent[1])
				for range cs.Tools(t.Context(), nil) {
				}
				if kind == "stateful" || kind == "modern" {
					s.awaitListener(t)
				}
				s.AddTool(&mcp.Tool{Name: "added", InputSchema: json.RawMessage(`{"type":"object"}`)}, fails)
				for m := range heard {
					if m == "tools" {
						break
					}
				}
				s.RemoveTools("wait")
				<-heard
				var names []string
				for tool, err := range cs.Tools(t.Context(), nil) {
					require.NoError(t, err)
					names = append(names, tool.Name)
				}
				assert.Contains(t, names, "added")
				assert.NotContains(t, names, "wait")
				tools, _ := b.seen.of(session.ID())
				assert.ElementsMatch(t, names, tools)
			})
		}
	}
}

func TestFrontCancelsBothWays(t *testing.T) {
	for _, kind := range []string{"stateful", "json", "sse", "modern"} {
		for _, agent := range agentKinds {
			t.Run(kind+agent[0]+" "+agent[1], func(t *testing.T) {
				s := serveTarget(t, kind)
				b := front(t, s.at)
				session := b.session(t)
				cs := b.connect(t, session, "127.0.0.1", agent[0], agent[1])
				ctx, cancel := context.WithCancel(t.Context())
				failed := make(chan error)
				go func() { _, err := call(ctx, cs, "wait", nil, nil); failed <- err }()
				<-s.started
				cancel()
				require.ErrorIs(t, <-failed, context.Canceled)
				<-s.ended // the target was told
				_, err := call(t.Context(), cs, "echo", nil, nil)
				require.NoError(t, err)

				// The end of the session ends its calls.
				go func() { _, err := call(context.Background(), cs, "wait", nil, nil); failed <- err }()
				<-s.started
				b.Revoke(session)
				require.Error(t, <-failed)
				<-s.ended
			})
		}
	}
}

func TestFrontLetsTheTargetAsk(t *testing.T) {
	for _, kind := range []string{"stateful", "sse", "stdio"} {
		for _, path := range []string{"/mcp", "/sse"} {
			t.Run(kind+path, func(t *testing.T) {
				b := front(t, serveTarget(t, kind).at)
				cs, _ := b.talker(t, b.session(t), path, legacy)
				r, err := call(t.Context(), cs, "asks", nil, nil)
				require.NoError(t, err)
				require.False(t, r.IsError, r.Content)
				assert.Equal(t, "m1 Ada file:///home", text(t, r))

				// An agent that cannot be asked is not asked.
				mute := b.connect(t, b.session(t), "127.0.0.1", path, legacy)
				r, err = call(t.Context(), mute, "asks", nil, nil)
				assert.True(t, err != nil || r.IsError)
			})
		}
	}
}

// awaitListener waits until the target has somebody to tell of changes.
func (s *served) awaitListener(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return s.streams.Load() > 0 }, streamWait, streamTick)
}

func TestFrontTellsOfChangedResources(t *testing.T) {
	for _, kind := range []string{"stateful", "sse", "modern"} {
		for _, agent := range agentKinds {
			t.Run(kind+agent[0]+" "+agent[1], func(t *testing.T) {
				s := serveTarget(t, kind)
				b := front(t, s.at)
				cs, heard := b.talker(t, b.session(t), agent[0], agent[1])
				offered := cs.InitializeResult().Capabilities.Resources.Subscribe
				require.Equal(t, kind != "modern", offered)
				if !offered {
					return
				}
				require.NoError(t, cs.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "test:r"}))
				if kind == "stateful" {
					s.awaitListener(t)
				}
				// A newer agent's subscription is under way when Subscribe returns.
				require.Eventually(t, func() bool {
					require.NoError(t, s.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "test:r"}))
					select {
					case m := <-heard:
						return m == "test:r"
					default:
						return false
					}
				}, streamWait, 20*streamTick)
				if agent[1] == legacy {
					require.NoError(t, cs.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "test:r"}))
				}
			})
		}
	}
}
