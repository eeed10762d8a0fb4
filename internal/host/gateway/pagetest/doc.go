// Package pagetest has no code of its own. Its tests drive the gateway's page in a
// real browser, over real sockets, against a real store of offers.
package pagetest
