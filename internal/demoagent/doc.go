// Package demoagent is a small, real agent that speaks the Agent Client Protocol
// (version 1) over its standard input and output. There is no model in it: it
// obeys a handful of words (see [Help]), so that a host can be watched, and
// tested, from the prompt to the tool that really runs.
//
// It connects to the MCP servers of session/new over HTTP, SSE or stdio, asks
// with the frame shapes of claude-agent-acp 0.101.0, and runs a tool only when
// the answer selects an allowing option that it offered. Every other answer
// (reject, cancelled, an option that was not offered, a JSON-RPC error, a
// malformed answer) means that the tool does not run and the turn goes on.
//
// It can also play an [Act]: be an agent that does not do what it asked for, so
// that one sees what the nets of a host catch.
//
// What it reads is read strictly: a message with duplicate keys or bad text is
// refused. Prompts never choose a shell command. Header values, URLs and the
// environment of servers appear in nothing that it sends or logs.
package demoagent
