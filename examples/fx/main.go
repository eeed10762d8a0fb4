// Command fx composes the module with a stage and a dialect of its own, makes the
// pipeline of one agent instance, decides one request and prints why.
package main

import (
	"context"
	"fmt"
	"os"

	"go.uber.org/fx"

	"github.com/kandev/assent/examples/newdialect"
	"github.com/kandev/assent/examples/newstage"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/stages"
	"github.com/kandev/assent/wiring"
)

func main() {
	app := fx.New(
		wiring.Module,
		wiring.AsStage(newstage.Factory), // the stage's line in the wiring
		fx.Replace(newstage.Order()),     // the order with the stage's line
		wiring.AsDialect(newdialect.New), // the dialect's line
		fx.Invoke(decide),                // a host keeps the factory and calls it for each instance
		fx.NopLogger,
	)
	if err := app.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func decide(newPipeline stages.PipelineFactory) error {
	instance := pipeline.Instance{Agent: "parrot-acp", Port: 41001, Injected: true}
	p, err := newPipeline(instance)
	if err != nil {
		return err
	}
	fmt.Print(p.Decide(context.Background(), request("mcp__kandev__list_tasks")).Explain())
	fmt.Print(p.Decide(context.Background(), request("mcp__kandev__delete_task")).Explain())
	return nil
}

// request is what package pipeline/acp makes of an agent's line.
func request(tool string) *pipeline.Request {
	said := pipeline.NewMetaObject(
		pipeline.Member{Key: "heard", Value: pipeline.MetaText(tool)},
		pipeline.Member{Key: "said", Value: pipeline.MetaText(tool)},
	)
	injected := pipeline.Server{Name: "kandev", Type: "http", URL: "http://localhost:41001/mcp"}
	return &pipeline.Request{
		SessionID: "s-1",
		Call:      pipeline.ToolCall{ID: "c-1", Meta: pipeline.NewMetaObject(pipeline.Member{Key: "parrot", Value: said})},
		Options:   []pipeline.Option{{ID: "yes", Kind: pipeline.AllowOnce}, {ID: "no", Kind: pipeline.RejectOnce}},
		Session:   pipeline.Session{Announced: true, Lists: []pipeline.ServerList{{Servers: []pipeline.Server{injected}}}},
	}
}
