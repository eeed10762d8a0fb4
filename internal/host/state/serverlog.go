package state

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
)

// serverLog takes the messages of the embedded server. What they are about can
// be in their arguments, so only the constant part is logged, and errors.
type serverLog struct {
	log   *slog.Logger
	cause atomic.Pointer[string] // of the first fatal message
}

func newServerLog(log *slog.Logger) *serverLog { return &serverLog{log: log} }

// fatal says why the server could not start; empty: it said nothing of that kind.
func (l *serverLog) fatal() string {
	if cause := l.cause.Load(); cause != nil {
		return *cause
	}
	return ""
}

func (l *serverLog) say(level slog.Level, format string, args []any) {
	attrs := []slog.Attr{slog.String("message", format)}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			attrs = append(attrs, slog.Any("error", err))
		}
	}
	l.log.LogAttrs(context.Background(), level, "the embedded NATS server says something", attrs...)
}

// Noticef, and the others, are called by the server.
func (l *serverLog) Noticef(format string, args ...any) { l.say(slog.LevelDebug, format, args) }

// Warnf logs a warning.
func (l *serverLog) Warnf(format string, args ...any) { l.say(slog.LevelWarn, format, args) }

// Errorf logs an error.
func (l *serverLog) Errorf(format string, args ...any) { l.say(slog.LevelError, format, args) }

// Fatalf keeps the text for the error of the start: it is about folders and
// disks, nothing is stored yet. The process goes on.
func (l *serverLog) Fatalf(format string, args ...any) {
	cause := fmt.Sprintf(format, args...)
	l.cause.CompareAndSwap(nil, &cause)
	l.say(slog.LevelDebug, format, args)
}

// Debugf is not called: the server is not told to debug.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef is not called either; traces hold what is stored.
func (l *serverLog) Tracef(string, ...any) {}
