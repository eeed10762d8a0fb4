package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// door knows which requests may come in at all.
type door struct {
	scheme  string // of the listener
	hosts   map[string]bool
	origins map[string]bool // beyond the same origin
}

// newDoor makes the door of a listener.
func newDoor(o *Options) *door {
	d := &door{scheme: "http", hosts: map[string]bool{}, origins: map[string]bool{}}
	plainPort := 80
	if o.TLS != nil {
		d.scheme, plainPort = "https", 443
	}
	port, hosts := 0, []string{"localhost", "127.0.0.1", "[::1]"}
	if at, err := netip.ParseAddrPort(o.Listener.Addr().String()); err == nil {
		port = int(at.Port())
		if ip := at.Addr().Unmap(); !ip.IsUnspecified() { // a number is bound to no name
			hosts = append(hosts, strings.TrimSuffix(net.JoinHostPort(ip.String(), ""), ":"))
		}
	}
	for _, h := range o.Hosts {
		h = strings.ToLower(h)
		d.hosts[h] = true
		hosts = append(hosts, h)
	}
	for _, h := range hosts {
		if _, _, err := net.SplitHostPort(h); err == nil {
			continue // it has a port of its own
		}
		d.hosts[h+":"+strconv.Itoa(port)] = true
		if port == plainPort { // clients leave the usual port out
			d.hosts[h] = true
		}
	}
	for _, origin := range o.Origins {
		d.origins[strings.ToLower(origin)] = true
	}
	return d
}

// Why a request is refused at the door. Nothing of the request is in it.
const (
	refusedHost   = "host_not_allowed"
	refusedOrigin = "origin_not_allowed"
)

// refuses says why a request may not come in; empty: it may. No Origin header is
// fine: no page can leave it out of what could do harm.
func (d *door) refuses(r *http.Request) string {
	host := strings.ToLower(r.Host)
	if !d.hosts[host] {
		return refusedHost
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return ""
	}
	origin := strings.ToLower(origins[0])
	if len(origins) > 1 || origin != d.scheme+"://"+host && !d.origins[origin] {
		return refusedOrigin
	}
	return ""
}

// policy lets the page load its own files, speak to its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// secure sets the headers of every answer.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}
