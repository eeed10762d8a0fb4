package agents

import (
	"maps"
	"slices"
	"strings"
)

// Near are the known agent ids that somebody may have meant who wrote another: the
// nearest ones, with or without their -acp, if few letters have to change. A known
// id has none.
func Near(id string) []string {
	known := slices.Compact(slices.Sorted(maps.Values(agentNames)))
	if slices.Contains(known, id) || len(id) > 64 {
		return nil
	}
	best := 1 + len(id)/3
	var near []string
	for _, k := range known {
		d := min(distance(id, k), distance(id, strings.TrimSuffix(k, "-acp")))
		switch {
		case d < best:
			best, near = d, []string{k}
		case d == best:
			near = append(near, k)
		}
	}
	return near
}

// distance is how many bytes have to be added, left out or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
