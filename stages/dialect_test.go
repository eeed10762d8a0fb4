package stages_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/kandev/assent/dialects"
	"github.com/kandev/assent/pipeline"
	"github.com/kandev/assent/pipeline/pipelinetest"
	"github.com/kandev/assent/stages"
)

// rows are what the stage makes of what one dialect says.
type rows struct {
	name    string
	dialect speaker
	cases   []pipelinetest.Case
}

func runDialects(t *testing.T, groups []rows) {
	t.Helper()
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			pipelinetest.Run(t, stages.NewDialect(pipelinetest.Instance(), g.dialect), g.cases)
		})
	}
}

func supplied(name string) *pipeline.Request { return pipelinetest.Request(pipelinetest.Name(name)) }

// other is what the identity stage learned of a name that is no qualified one.
func other() pipeline.Facts {
	return pipeline.Facts{Identity: pipeline.OtherIdentity(), Kept: "kept_by_identity"}
}

func TestDialectClaims(t *testing.T) {
	claims := func(name string) speaker { return speaker{claim: pipeline.ClaimName(name)} }
	dropped := continues(stages.ReasonClaimDisagrees, pipeline.Facts{Identity: pipeline.RefusedIdentity()})
	agrees := continues(stages.ReasonClaimAgrees, pipeline.Facts{})
	runDialects(t, []rows{
		{"claims the host's tool", claims("mcp__kandev__list_tasks"), []pipelinetest.Case{
			{Name: "nothing known", Want: continues(stages.ReasonClaimIdentifies, listTasks())},
			{Name: "the same known", Facts: listTasks(), Want: agrees},
			{Name: "another tool known", Facts: pipeline.Facts{Identity: pipelinetest.Tool("kandev", "create_task")},
				Want: refused(stages.ReasonClaimDisagrees)},
			{Name: "another server known", Facts: pipeline.Facts{Identity: pipelinetest.Tool("docs", "list_tasks")},
				Want: refused(stages.ReasonClaimDisagrees)},
			{Name: "another name supplied", Request: supplied("Bash"), Facts: other(), Want: dropped},
			{Name: "refused before", Facts: pipeline.Facts{Identity: pipeline.RefusedIdentity(), Kept: "x"},
				Want: continues(stages.ReasonAlreadyRefused, pipeline.Facts{})},
			{Name: "about no tool call", Request: pipelinetest.Request(func(r *pipeline.Request) { r.Call.OtherSubject = true }),
				Facts: pipeline.Facts{Kept: "x"}, Want: continues(stages.ReasonNothingToRead, pipeline.Facts{})},
		}},
		{"claims server and tool apart", speaker{claim: pipeline.ClaimTool("kandev", "list_tasks")}, []pipelinetest.Case{
			{Name: "nothing known", Want: continues(stages.ReasonClaimIdentifies, listTasks())},
			{Name: "the same known", Facts: listTasks(), Want: agrees},
		}},
		{"claims another name", claims("Bash"), []pipelinetest.Case{
			{Name: "nothing known", Want: continues(pipeline.ReasonNoPrefix,
				pipeline.Facts{Identity: pipeline.OtherIdentity(), Kept: pipeline.ReasonNoPrefix})},
			{Name: "the same supplied", Request: supplied("Bash"), Facts: other(), Want: agrees},
			{Name: "another one supplied", Request: supplied("Edit"), Facts: other(), Want: dropped},
			{Name: "one too long to compare", Request: pipelinetest.Request(func(r *pipeline.Request) { r.Call.Name = pipeline.TooLong() }),
				Facts: other(), Want: dropped},
			{Name: "the host's tool known", Facts: listTasks(), Want: refused(stages.ReasonClaimDisagrees)},
		}},
		{"claims an ambiguous name", claims("mcp__kandev__a__b"), []pipelinetest.Case{
			{Name: "nothing known", Want: continues(pipeline.ReasonSecondSeparator,
				pipeline.Facts{Identity: pipeline.OtherIdentity(), Kept: pipeline.ReasonSecondSeparator})},
		}},
	})
}

func TestDialectClaimsNothing(t *testing.T) {
	fails := func(err error) speaker { return speaker{err: err} }
	silent := dialects.Error{Reason: "frames_are_silent", Absent: true}
	broken := dialects.Error{Reason: "frames_are_broken"}
	runDialects(t, []rows{
		{"is silent, with a reason", fails(silent), []pipelinetest.Case{
			{Name: "nothing known", Want: kept("frames_are_silent")},
			{Name: "a tool known", Facts: listTasks(), Want: continues("frames_are_silent", pipeline.Facts{})},
		}},
		{"is silent, with a wrapped reason", fails(fmt.Errorf("wrapped: %w", silent)), []pipelinetest.Case{
			{Name: "nothing known", Want: kept("frames_are_silent")},
		}},
		{"is silent, without a reason", fails(dialects.ErrAbsent), []pipelinetest.Case{
			{Name: "nothing known", Want: kept(stages.ReasonDialectSilent)},
			{Name: "a tool known", Facts: listTasks(), Want: continues(stages.ReasonDialectSilent, pipeline.Facts{})},
		}},
		{"finds malformed frames", fails(broken), []pipelinetest.Case{
			{Name: "nothing known", Want: refused("frames_are_broken")},
			{Name: "a tool known", Facts: listTasks(), Want: refused("frames_are_broken")},
			{Name: "kept before: that reason counts", Request: supplied("Bash"), Facts: other(),
				Want: continues("frames_are_broken", pipeline.Facts{Identity: pipeline.RefusedIdentity()})},
		}},
		{"fails without a reason", fails(errors.New("canary")), []pipelinetest.Case{
			{Name: "a tool known", Facts: listTasks(), Want: refused(stages.ReasonDialectFailed)},
		}},
	})
}

func TestDialectOfTheInstance(t *testing.T) {
	set := index(t, speaker{claim: pipeline.ClaimName("mcp__kandev__list_tasks")})
	guessed := pipelinetest.Instance()
	guessed.Guessed = true
	pipelinetest.RunPerInstance(t, stages.DialectFactory(set).New, []pipelinetest.Case{
		{Name: "configured", Instance: pipelinetest.Instance(), Want: continues(stages.ReasonClaimIdentifies, listTasks())},
		{Name: "guessed", Instance: guessed, Want: kept(stages.ReasonGuessedAgent)},
		{Name: "guessed, a tool known", Instance: guessed, Facts: listTasks(), Want: continues(stages.ReasonClaimAgrees, pipeline.Facts{})},
		{Name: "guessed, another tool known", Instance: guessed, Facts: pipeline.Facts{Identity: pipelinetest.Tool("kandev", "create_task")}, Want: refused(stages.ReasonClaimDisagrees)},
		{Name: "an agent without dialect", Instance: pipeline.Instance{Agent: "other-acp"}, Want: kept(stages.ReasonNoDialect)},
		{Name: "an agent without dialect, a tool known", Instance: pipeline.Instance{Agent: "other-acp"}, Facts: listTasks(),
			Want: continues(stages.ReasonNoDialect, pipeline.Facts{})},
		{Name: "no agent configured", Want: kept(stages.ReasonNoDialect)},
	})
}
