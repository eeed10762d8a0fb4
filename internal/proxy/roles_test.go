package proxy

import "os"

// roleVariable makes the test program be something else: see roles.
const roleVariable = "ASSENT_PROXY_TEST_ROLE"

// endsAtOnce is for the environment of a role: under the race detector a process
// otherwise waits for a second at its end.
const endsAtOnce = "GORACE=atexit_sleep_ms=0"

var roles = map[string]func(){}

func runRole() bool {
	role := roles[os.Getenv(roleVariable)]
	if role != nil {
		role()
	}
	return role != nil
}
