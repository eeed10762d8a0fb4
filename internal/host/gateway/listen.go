package gateway

import (
	"fmt"
	"net"
	"net/netip"
)

// CheckListen refuses an address that other machines can reach, unless it is served
// with TLS or somebody has said that it may be insecure. The address is host and
// port; port 0 is any.
func CheckListen(address string, tls, insecure bool) error {
	host, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("gateway: the address to listen at, %q, is not host and port: use one like 127.0.0.1:8421", address)
	}
	if isLoopback(host) || tls || insecure {
		return nil
	}
	return fmt.Errorf("gateway: %q can be reached from other machines, and tokens would travel in the clear: "+
		"listen on 127.0.0.1, set a TLS certificate, or say --insecure if something in front of it encrypts", address)
}

// isLoopback says whether a host is this machine, for itself alone.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
