package console

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// stopSignals are how a person, or the end of the terminal, stops the program.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// stopper tells signals apart: the first interrupt cancels the turn, any other
// signal ends the program. It listens on a goroutine of its own, since the one
// that talks may be waiting for somebody to read what it writes.
type stopper struct {
	told  chan bool    // one value per signal: whether it ends the program
	count atomic.Int32 // interrupts since the turn began
	final atomic.Bool  // one of them ended the program
	once  sync.Once
	hurry func() // called once, when the program is to end

	signals chan os.Signal
	over    chan struct{}
}

// listen begins to listen, until close.
func listen(hurry func()) *stopper {
	s := &stopper{told: make(chan bool, 4), hurry: hurry, signals: make(chan os.Signal, 8), over: make(chan struct{})}
	signal.Notify(s.signals, stopSignals...)
	go s.watch()
	return s
}

func (s *stopper) close() {
	signal.Stop(s.signals)
	close(s.over)
}

func (s *stopper) watch() {
	for {
		select {
		case sig := <-s.signals:
			final := s.count.Add(1) > 1 || sig != os.Interrupt
			if final {
				s.end()
			}
			select {
			case s.told <- final:
			default: // more than enough have come
			}
		case <-s.over:
			return
		}
	}
}

// end says that the program is to end.
func (s *stopper) end() {
	s.final.Store(true)
	s.once.Do(s.hurry)
}

// lastResort is how long the program may take to end. The agents get several
// seconds of it to end by themselves.
const lastResort = 15 * time.Second
