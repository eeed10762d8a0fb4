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
	return nearest(id, known, func(k string) int { return min(distance(id, k), distance(id, strings.TrimSuffix(k, "-acp"))) })
}

// NearOf are those of some names, sorted, that somebody may have meant who wrote another.
func NearOf(name string, names []string) []string {
	if len(name) > 64 {
		return nil
	}
	return nearest(name, slices.Sorted(slices.Values(names)), func(k string) int { return distance(name, k) })
}

// nearest are the names for which few letters have to change, and the fewest.
func nearest(name string, names []string, distance func(string) int) (near []string) {
	best := 1 + len(name)/3
	for _, k := range names {
		switch d := distance(k); {
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
