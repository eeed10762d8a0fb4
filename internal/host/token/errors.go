package token

import "errors"

// Errors of this package, for [errors.Is].
var (
	// ErrExists: there is a token of that name.
	ErrExists = errors.New("token: there is a token of that name: choose another name, or delete that one first")
	// ErrNotFound: there is no token of that name.
	ErrNotFound = errors.New("token: there is no token of that name: assent token list shows those that there are")
	// ErrInvalid: the token cannot be made like this; the error says why.
	ErrInvalid = errors.New("token: not possible")
	// ErrFull: there are [MaxTokens] tokens.
	ErrFull = errors.New("token: there are too many tokens: delete some first")
)

type invalid string

func (e invalid) Error() string { return "token: " + string(e) }

func (e invalid) Is(target error) bool { return target == ErrInvalid }
