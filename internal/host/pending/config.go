package pending

import "time"

// Config of a [Store]. The zero value is good: offers wait for as long as there
// is somebody who could see them.
type Config struct {
	// Unseen is how long an offer waits while no surface was ever attached that
	// could show it. 0 means [DefaultUnseen]; below zero it waits for ever.
	Unseen time.Duration
	// Expiry of offers that bring none; by default there is none.
	Expiry Expiry
	// MaxOpen and MaxOpenPerInstance bound how many offers wait; 0 means the
	// defaults. What does not fit is answered "cancelled".
	MaxOpen, MaxOpenPerInstance int
	// Tombstones is about how many ended offers are remembered, so that a late
	// answer is told what happened; 0 means [DefaultTombstones].
	Tombstones int
	// MaxDetail bounds what is kept for [Store.Detail] of one offer, and
	// MaxDetails of all offers together, in bytes; 0 means the defaults.
	MaxDetail, MaxDetails int
}

// Defaults of [Config].
const (
	DefaultUnseen             = 5 * time.Second
	DefaultMaxOpen            = 1 << 17
	DefaultMaxOpenPerInstance = 4096
	DefaultTombstones         = 8192
	DefaultMaxDetail          = 256 << 10
	DefaultMaxDetails         = 64 << 20
)

func (c Config) withDefaults() Config {
	def := func(value *int, otherwise int) {
		if *value <= 0 {
			*value = otherwise
		}
	}
	def(&c.MaxOpen, DefaultMaxOpen)
	def(&c.MaxOpenPerInstance, DefaultMaxOpenPerInstance)
	def(&c.Tombstones, DefaultTombstones)
	def(&c.MaxDetail, DefaultMaxDetail)
	def(&c.MaxDetails, DefaultMaxDetails)
	if c.Unseen == 0 {
		c.Unseen = DefaultUnseen
	}
	return c
}
