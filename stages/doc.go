// Package stages holds the stages that decide the permission requests of coding
// agents, one file each, and the order in which they run.
//
// A request is approved without a person in two cases only: the person switched
// blanket approval on ([Blanket]), or the call is for a tool of the MCP server
// that the host itself injected into the session. The second case is a chain in
// which each stage adds one fact: [Identity] reads the programmatic name,
// [Dialect] reads what the agent's own frames say and contradicts where they
// disagree, [Provenance] proves that the named server is the injected one, and
// [Option] selects the allow of the least reach. Whatever breaks the chain is
// kept as a reason, and [Pending] repeats it to the person who is asked.
//
// The stages are pure and hold no state but the settings of their instance. A
// [Factory] makes the stage of one instance, [NewPipelineFactory] makes the
// pipelines. None of it needs a dependency-injection container; package wiring
// offers the same for hosts that use fx.
package stages
