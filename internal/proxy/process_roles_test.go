//go:build unix

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/kandev/assent/pipeline/acp"
)

// Agents that the test program can be.
func init() {
	for name, role := range map[string]func(){
		"exits":            func() { os.Exit(number(1)) },
		"dies":             func() { _ = syscall.Kill(os.Getpid(), syscall.Signal(number(1))); select {} },
		"echoes":           func() { _, _ = io.Copy(os.Stdout, os.Stdin); os.Exit(number(1)) },
		"stays":            func() { say("ready"); select {} },
		"tells its number": func() { say(strconv.Itoa(os.Getpid())); _, _ = io.Copy(io.Discard, os.Stdin) },
		"ignores":          ignores,
		"signals":          tellsSignals,
		"floods":           floods,
		"deaf":             deaf,
		"chatters":         chatters,
		"closes stdout":    closesStdout,
		"last words":       lastWords,
		"complains":        complains,
	} {
		roles[name] = role
	}
}

// number is an argument of the role.
func number(n int) int {
	if n >= len(os.Args) {
		return 0
	}
	v, _ := strconv.Atoi(os.Args[n])
	return v
}

// say is a notification of an agent.
func say(text string) { fmt.Print(saidLine(text)) }

func saidLine(text string) string { return notificationLine("_test/said", strconv.Quote(text)) }

// ignores takes no notice of being told to end, nor does what it has started.
func ignores() {
	signal.Ignore(syscall.SIGTERM)
	child := exec.Command("sleep", "600")
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		os.Exit(9)
	}
	say("ready")
	select {}
}

// tellsSignals says which signals it gets, and ends at SIGTERM.
func tellsSignals() {
	got := make(chan os.Signal, 10)
	signal.Notify(got, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	say("ready")
	for s := range got {
		say(s.String())
		if s == syscall.SIGTERM {
			os.Exit(5)
		}
	}
}

// floodLine is one of many lines of 200 bytes.
func floodLine(n int) string {
	line := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":%06d,"pad":"`, n)
	return line + strings.Repeat("x", 200-len(line)-len("\"}}\n")) + "\"}}\n"
}

// floods says as many lines as it is told to, and on stderr when it is through.
func floods() {
	out := bufio.NewWriter(os.Stdout)
	for n := range number(1) {
		_, _ = out.WriteString(floodLine(n))
	}
	_ = out.Flush()
	fmt.Fprintln(os.Stderr, "through")
}

// deaf asks without ever reading an answer, and says on stderr when that is so often
// that the answers cannot all be under way. Its offers have no options.
func deaf() {
	for n := 1; ; n++ {
		if n == 6000 {
			fmt.Fprintln(os.Stderr, "through")
		}
		fmt.Print(strings.Replace(offerLine(strconv.Itoa(n), "s", "Bash"), threeOptions, "[]", 1))
	}
}

// chatters talks until it cannot any more.
func chatters() {
	for {
		if _, err := io.WriteString(os.Stdout, saidLine("blah")); err != nil {
			os.Exit(7)
		}
	}
}

// closesStdout and goes on: what it is told it says on stderr.
func closesStdout() {
	say("the last")
	_ = os.Stdout.Close()
	_, _ = io.Copy(os.Stderr, os.Stdin)
	os.Exit(4)
}

// lastWords says something and is gone at once. Its number is on stderr.
func lastWords() {
	fmt.Fprintln(os.Stderr, os.Getpid())
	for n := range 100 {
		fmt.Print(floodLine(n))
	}
	fmt.Print(strings.TrimSuffix(saidLine("the last"), "\n"))
}

// binary is what stderr may be full of.
const binary = "\x1b[31mred\x00\xff\xfe\r\nno line end"

// complains on stderr, reads one line and is gone.
func complains() {
	_, _ = os.Stderr.WriteString(binary)
	_, _ = acp.NewReader(os.Stdin, 0).ReadLine()
}
