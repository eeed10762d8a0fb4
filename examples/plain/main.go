// Command plain decides one permission request without fx and without a host: a
// raw line of an agent goes in, a verdict and the answer line come out.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/acp"
	"github.com/kandev/assent/stages"
)

// What went over the connection so far: the host told the agent about its own
// MCP server, and the agent made the session. Then it asks.
const (
	port       = 41001
	newSession = `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/workspace","mcpServers":[{"type":"http","name":"kandev","url":"http://localhost:41001/mcp","headers":[{"name":"Authorization","value":"Bearer s3cret"}]}]}}`
	made       = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}`
	request    = `{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"c-1","name":"mcp__kandev__list_tasks"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`
)

func main() {
	line := request
	if len(os.Args) > 1 {
		line = os.Args[1]
	}
	explanation, answer, err := decide(line)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(explanation)
	if answer == nil {
		fmt.Println("no answer yet: a person is asked")
		return
	}
	fmt.Printf("answer: %s\n", answer)
}

// decide takes one raw line to an explanation and an answer line. The answer is
// nil when a person has to be asked.
func decide(line string) (explanation string, answer []byte, err error) {
	set, err := dialects.Index(dialects.All())
	if err != nil {
		return "", nil, err
	}
	newPipeline, err := stages.NewPipelineFactory(stages.DefaultOrder(), stages.Builtin(set))
	if err != nil {
		return "", nil, err
	}

	// One pipeline and one decoder for each agent process.
	instance := pipeline.Instance{Agent: "claude-acp", Port: port, Injected: true}
	p, err := newPipeline(instance)
	if err != nil {
		return "", nil, err
	}
	dialect, _ := set.For(instance)
	decoder := acp.NewDecoder(acp.Options{Dialect: dialect})

	if _, err := decoder.FromClient([]byte(newSession), "Bearer s3cret"); err != nil {
		return "", nil, err
	}
	if _, err := decoder.FromAgent([]byte(made)); err != nil {
		return "", nil, err
	}
	message, err := decoder.FromAgent([]byte(line))
	if err != nil {
		return "", nil, fmt.Errorf("plain: %w", err)
	}
	if message.Offer == nil {
		return "", nil, errors.New("plain: the line is no permission request")
	}
	result := message.Offer.Decide(context.Background(), p)
	return result.Explain(), message.Offer.Answer(result), nil
}
