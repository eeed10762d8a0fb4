// Package docs makes the reference pages that repeat what stands in the code.
package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// reasonPackages have reasons that a decision can carry, in the order of a decision.
var reasonPackages = []struct{ dir, title, intro string }{
	{"pipeline/acp", "Before any stage", "The form of the request already decides. Stage `acp`, verdict `cancel`."},
	{"internal/host/nets", "By the host", "The state of a session or instance decides. Stage `manager`, verdict `pend`: the stages would have approved. Offers of a cancelled turn, and offers that cannot wait, have the verdict `cancel`."},
	{"internal/proxy", "By the relay", "`assent proxy` alone decides so, by what is between the client and the agent. Stage `manager`; verdict `pend` where the stages would have approved, `cancel` where an answer could be mistaken for another one."},
	{"stages", "Stages", "The stages in their order: `blanket`, `identity`, `dialect`, `provenance`, `option`, `pending`."},
	{"dialects", "Dialects", "What the frames of one agent say, reported by the stage `dialect`."},
	{"pipeline", "Shared by several stages, and the loop", "The parser of qualified names, the choice of an option, and what the loop does with a stage that misbehaves."},
}

// Reasons is the page docs/reasons.md for the module in the given folder: every
// constant of type Reason with its comment.
func Reasons(root string) (string, error) {
	var page strings.Builder
	page.WriteString("# Reasons\n\n" +
		"Every decision names its reason: in `assent run`, in `assent replay --explain`, in logs and in decision lines.\n" +
		"`pend` means that a person is asked; its reason is the first fact that kept the request off the automatic path.\n" +
		"Reasons are part of the public contract and hold nothing from a request.\n")
	for _, p := range reasonPackages {
		rows, err := reasonRows(filepath.Join(root, p.dir))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n| reason | meaning |\n|---|---|\n%s", p.title, p.intro, strings.Join(rows, ""))
	}
	return page.String(), nil
}

func reasonRows(dir string) (rows []string, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths { // in the order of their names
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		rows = append(rows, fileRows(file)...)
	}
	return rows, nil
}

func fileRows(file *ast.File) (rows []string) {
	for _, decl := range file.Decls {
		constants, ok := decl.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, spec := range constants.Specs {
			if row, ok := reasonRow(spec.(*ast.ValueSpec), constants); ok {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// reasonRow is the line of one constant, if it is a reason with its own text.
func reasonRow(spec *ast.ValueSpec, decl *ast.GenDecl) (string, bool) {
	if len(spec.Values) != 1 || !isReason(spec.Type) {
		return "", false
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	text, _ := strconv.Unquote(literal.Value)
	comment := cmp.Or(spec.Comment.Text(), spec.Doc.Text(), decl.Doc.Text())
	comment = strings.TrimPrefix(strings.TrimPrefix(comment, spec.Names[0].Name), ":")
	return fmt.Sprintf("| `%s` | %s |\n", text, strings.ReplaceAll(strings.Join(strings.Fields(comment), " "), "|", "\\|")), true
}

func isReason(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name == "Reason"
	case *ast.SelectorExpr:
		return t.Sel.Name == "Reason"
	}
	return false
}
