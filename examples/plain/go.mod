module example.com/plain

go 1.26.0

require github.com/kandev/assent v0.0.0

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/samber/lo v1.53.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/kandev/assent => ../..
