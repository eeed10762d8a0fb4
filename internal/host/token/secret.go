package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// secretPrefix makes secrets easy to find for scanners and people.
const secretPrefix = "assent_"

// secretLen is that of every secret: 32 bytes in base64url without padding.
const secretLen = len(secretPrefix) + 43

type digest [sha256.Size]byte

func newSecret() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails (crypto/rand)
	return secretPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
}

func digestOf(secret string) digest { return sha256.Sum256([]byte(secret)) }
