package agents

// Launch is what makes an agent ask, and take the injected server for what it is.
// Facts and versions: the agents in their defaults of November 2026. What the user
// has set wins.
type Launch struct {
	// Env are variables for the agent's environment.
	Env []Variable
	// InjectedEnv are variables for an agent that has an injected MCP server.
	InjectedEnv []Variable
	// AskingMode is the id of the session mode (ACP session/set_mode) in which the
	// agent asks, and QuietMode the one that it starts in by default and that does
	// not. Both are empty when the agent needs no such request.
	AskingMode, QuietMode string
}

// Variable is one variable of an environment.
type Variable struct{ Name, Value string }

// Launching gives the launch settings of an agent. It may be a guessed one: none
// of them approves anything. An agent that needs none has none.
func Launching(agent string) Launch {
	switch agent {
	case Claude: // claude-agent-acp 0.101.0: in "auto" a classifier decides
		return Launch{AskingMode: "default", QuietMode: "auto"}
	case Qwen: // qwen-code 0.24.4: the same
		return Launch{AskingMode: "default", QuietMode: "auto"}
	case Codex: // codex-acp 2.6.0: starts in "agent"; drops an injected server whose name the user's configuration has, too
		return Launch{
			Env:         []Variable{{"INITIAL_AGENT_MODE", "workspace-write"}},
			InjectedEnv: []Variable{{"DISABLE_MCP_CONFIG_FILTERING", "true"}},
		}
	case OpenCode: // opencode 1.18.33: never asks
		return Launch{Env: []Variable{{"OPENCODE_PERMISSION", `{"*":"ask"}`}}}
	case Kilo: // kilo 7.7.9: never asks
		return Launch{Env: []Variable{{"KILO_PERMISSION", `{"*":"ask"}`}}}
	}
	return Launch{}
}

// Environment adds the variables to an environment that does not have them. It
// says which ones it added.
func (l Launch) Environment(env []string, injected bool) (out, added []string) {
	out = env
	variables := l.Env
	if injected {
		variables = append(variables[:len(variables):len(variables)], l.InjectedEnv...)
	}
	for _, v := range variables {
		if !has(env, v.Name) {
			out, added = append(out[:len(out):len(out)], v.Name+"="+v.Value), append(added, v.Name)
		}
	}
	return out, added
}

func has(env []string, name string) bool {
	for _, v := range env {
		if len(v) > len(name) && v[len(name)] == '=' && v[:len(name)] == name {
			return true
		}
	}
	return false
}
