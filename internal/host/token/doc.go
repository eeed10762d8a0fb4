// Package token keeps who may connect to the gateway: named tokens, each with
// scopes and, optionally, the tasks it is limited to.
//
// A secret is shown once, when its token is made. Only its SHA-256 digest is
// stored, which is enough because a secret is 256 random bits. It is compared in
// constant time and logged nowhere; no error holds it.
package token
