package gateway

import (
	"sync"
	"time"
)

// limiter has a bucket of tries for each key, which fills up again with time.
type limiter struct {
	rate, burst float64

	mu      sync.Mutex
	buckets map[string]bucket
}

// bucket is what was left at a time.
type bucket struct {
	left float64
	at   time.Time
}

// maxBuckets bounds the keys that are remembered.
const maxBuckets = 4096

func newLimiter(rate, burst float64) *limiter {
	return &limiter{rate: rate, burst: burst, buckets: map[string]bucket{}}
}

// allow takes one try of a key; false: there is none left.
func (l *limiter) allow(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	b, known := l.buckets[key]
	if !known {
		l.makeRoom(now)
		b = bucket{l.burst, now}
	}
	b.left = min(l.burst, b.left+l.rate*now.Sub(b.at).Seconds())
	b.at = now
	allowed := b.left >= 1
	if allowed {
		b.left--
	}
	l.buckets[key] = b
	return allowed
}

// makeRoom forgets keys whose bucket is full again, and all of them where none is:
// whoever can use thousands of keys is not held by this limit anyway.
func (l *limiter) makeRoom(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	for key, b := range l.buckets {
		if b.left+l.rate*now.Sub(b.at).Seconds() >= l.burst {
			delete(l.buckets, key)
		}
	}
	if len(l.buckets) >= maxBuckets {
		clear(l.buckets)
	}
}
