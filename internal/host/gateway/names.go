package gateway

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// CheckHosts says which of [Options.Hosts] no Host header can be equal to, and why. It
// quotes none.
func CheckHosts(hosts []string) error { return checkNames("hosts", hosts, whyNoHost) }

// CheckOrigins says which of [Options.Origins] no Origin header can be equal to, and why.
func CheckOrigins(origins []string) error { return checkNames("origins", origins, whyNoOrigin) }

// checkNames looks at each entry of a setting. Case does not matter in any.
func checkNames(setting string, list []string, why func(string) string) error {
	seen := map[string]int{}
	for i, entry := range list {
		entry = strings.ToLower(entry)
		if is := why(entry); is != "" {
			return fmt.Errorf("gateway: %s: entry %d %s", setting, i+1, is)
		}
		if before := seen[entry]; before > 0 {
			return fmt.Errorf("gateway: %s: entry %d is there already, as entry %d: leave it out", setting, i+1, before)
		}
		seen[entry] = i + 1
	}
	return nil
}

// Forms of hosts, in lower case: that of RFC 3986 for the ASCII names which are sent.
var (
	hostForm   = regexp.MustCompile(`^(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.])?)(?::([1-9][0-9]{0,4}))?$`)
	schemeForm = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
)

// whyNoHost says what is wrong with a host, and the way out; empty: nothing.
func whyNoHost(host string) string {
	switch {
	case strings.Contains(host, "*"):
		return "is a pattern, and each host is compared as it stands: name them one by one"
	case strings.Contains(host, "://"):
		return `has a scheme: write the host alone, as in "desk.example"`
	case !isHost(host):
		return `is no host: write a name (in its xn-- form) or an address without blanks, path or user, and a port if clients send one, as in "desk.example", "desk.example:8443" or "[fd00::1]"`
	}
	return ""
}

// isHost says whether a text is a host, with or without a port, as clients send it.
func isHost(host string) bool {
	parts := hostForm.FindStringSubmatch(host)
	if parts == nil {
		return false
	}
	if number, _ := strconv.Atoi(parts[2]); number > 65535 {
		return false
	}
	literal, is6 := strings.CutPrefix(parts[1], "[")
	ip, err := netip.ParseAddr(strings.TrimSuffix(literal, "]"))
	return !is6 || err == nil && ip.Is6() && "["+ip.String()+"]" == parts[1]
}

// usualPorts are those that browsers leave out of origins.
var usualPorts = map[string]string{"http": ":80", "https": ":443"}

// whyNoOrigin is [whyNoHost] for an origin.
func whyNoOrigin(origin string) string {
	scheme, host, both := strings.Cut(origin, "://")
	usual := usualPorts[scheme]
	switch {
	case origin == "null":
		return ""
	case strings.Contains(origin, "*"):
		return "is a pattern, and each origin is compared as it stands: name them one by one"
	case !both || !schemeForm.MatchString(scheme):
		return `has no scheme: write it as browsers send it, as in "https://desk.example"`
	case strings.ContainsAny(host, "/?#"):
		return `has more than scheme, host and port: write it without a path, also without a slash at its end, as in "https://desk.example"`
	case !isHost(host):
		return `has no good host: write it without blanks and user, as in "https://desk.example" or "https://desk.example:8443"`
	case usual != "" && strings.HasSuffix(host, usual):
		return "names the port that its scheme has anyway, which browsers leave out: leave it out, too"
	}
	return ""
}
