// Package config holds the settings of agent instances and injects the host's
// own MCP server into them.
//
// The injector is [Config.NewInstanceConfig]. It is the only place that sets
// [InstanceConfig.InjectedKandevMCP], the marker on which automatic approval of
// the injected server's tools rests, and it does so in the same step in which it
// puts the two entries of that server into the list and removes every entry of
// the user's that could be mistaken for it. Nothing that is decoded can set the
// marker, and nothing that is encoded carries it: a restarted or resumed
// instance gets it from being built anew.
//
// The entries carry no secret. [InstanceConfig.SessionServers] makes what one
// session request of ACP sends: the servers that the agent can take, and of the
// two injected entries exactly one, with the secret of that session.
//
// Header values, environment values, arguments and URLs of MCP servers can hold
// secrets. No error and no warning of this package contains one, and printing or
// logging a value of this package hides them.
package config
