package docs

import (
	"go/ast"
	"maps"
	"slices"
)

// sortedFiles are the files of parsed packages in the order of their names.
func sortedFiles(packages map[string]*ast.Package) (files []*ast.File) {
	for _, p := range packages {
		for _, name := range slices.Sorted(maps.Keys(p.Files)) {
			files = append(files, p.Files[name])
		}
	}
	return files
}
