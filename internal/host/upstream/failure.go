package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kandev/assent/internal/host/child"
)

// Failure says why the target gave no answer. Its text quotes nothing that the
// target or anybody else sent.
type Failure struct {
	// What happened, as the end of a sentence about the target.
	What string
	// SessionGone: the target no longer knows the session and did not look at the
	// request. With a new session it can be sent again.
	SessionGone bool
}

// Error says what happened.
func (f *Failure) Error() string { return "upstream: the target " + f.What }

// strayAnswer is the failure of a call when the target gave an answer that belongs to no
// call, or not to the one that it answers.
var strayAnswer = &Failure{What: "answered with an id that is not the request's"}

// CodeRejected is the code by which the SDK's transports mark an error of their
// own. It is no answer of the target.
const CodeRejected = -32005

// answered is the error that the target answered with, if there is one in err.
func answered(err error) *jsonrpc.Error {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) && wire.Code != CodeRejected {
		return wire
	}
	return nil
}

// failure says what an error of a transport means. Status is that of the last HTTP
// answer, if it was above 399. That a context was cancelled is no failure.
func failure(err error, status int) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	if known := (*Failure)(nil); errors.As(err, &known) {
		return known
	}
	if wire := (*jsonrpc.Error)(nil); errors.As(err, &wire) && wire.Code == CodeRejected && wire.Message == strayAnswer.What {
		return strayAnswer // as [answering] writes it
	}
	if errors.Is(err, mcp.ErrSessionMissing) {
		return &Failure{What: "has ended the session", SessionGone: true}
	}
	return &Failure{What: meaning(err, status)}
}

func meaning(err error, status int) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var start *child.StartError
	var timeout net.Error
	switch {
	case errors.As(err, &start):
		return "cannot be started (is the program installed, and spelled right?)"
	case errors.As(err, &dns):
		return "cannot be reached: its host is not known"
	case errors.As(err, &certificate):
		return "cannot be reached: its certificate is not trusted"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "cannot be reached: the connection was refused (is it running?)"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "did not answer in time"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Sprintf("refused the request with HTTP status %d: it may want a header with a key", status)
	case status == statusTooLarge, errors.Is(err, errTooLong):
		return "sent more than is allowed"
	case status != 0:
		return fmt.Sprintf("answered with HTTP status %d", status)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "has closed the connection"
	}
	return "cannot be understood: it broke off, or sent something that is not MCP"
}
