// Package pipeline decides the permission requests of coding agents that speak
// the Agent Client Protocol (ACP).
//
// A [Request] is one session/request_permission of an agent: an effective tool
// call and the options it offers. A [Pipeline] hands it to its stages, one after
// the other, in one explicit [Order]. Each [Stage] is a pure function: it reads
// the request and the [Facts] learned so far and returns a [Decision]. It never
// calls the next stage, never logs and never changes what it was given.
//
// The loop is the only place that merges what stages learned, and it polices
// them. A stage that fails, panics, answers with an unknown verdict, names an
// option that was not offered, or sets a fact a second time does not decide: a
// person is asked. So [Pipeline.Decide] has no error result, and its [Result] is
// always safe to act on.
//
// The zero value of every type here is the careful one: the zero [Verdict] is
// [Pend] (ask a person), the zero [Identity] is unknown, the zero [Session] has
// no server list and therefore no provenance, the zero [Instance] approves
// nothing by itself.
//
// Subpackage acp turns raw protocol lines into requests and results into answer
// lines. Subpackage pipelinetest runs table tests of single stages.
package pipeline
