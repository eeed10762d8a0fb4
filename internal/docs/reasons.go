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

// reasonPackages have reasons that a decision or a record of the audit log can carry, in
// the order of a decision.
var reasonPackages = []struct{ dir, title, intro string }{
	{"pipeline/acp", "Before any stage", "The form of the request already decides. Stage `acp`, verdict `cancel`."},
	{"internal/host/nets", "By the host", "The state of a session or instance decides. Stage `manager`, verdict `pend`: the stages would have approved. Offers of a cancelled turn, and offers that cannot wait, have the verdict `cancel`."},
	{"internal/proxy", "By the relay", "`assent proxy` alone decides so, by what is between the client and the agent. Stage `manager`; verdict `pend` where the stages would have approved, `cancel` where an answer could be mistaken for another one."},
	{"stages", "Stages", "The stages in their order: `blanket`, `identity`, `dialect`, `provenance`, `option`, `pending`."},
	{"dialects", "Dialects", "What the frames of one agent say, reported by the stage `dialect`."},
	{"pipeline", "Shared by several stages, and the loop", "The parser of qualified names, the choice of an option, and what the loop does with a stage that misbehaves."},
	{"internal/host/pending", "Answers", "Why an offer that was asked about is over: the event `answer` of the audit log; one that could not wait has a `decision` alone. The last two stand in no record: they refuse an answer."},
	{"internal/host/audit", "Gaps", "Why an audit file is not complete at a place: the event `gap`. A stage or reason that is no word is written as `other`."},
}

// Reasons is the page docs/reasons.md for the module in the given folder: every
// constant of type Reason with its comment, and the events of the audit log.
func Reasons(root string) (string, error) {
	var page strings.Builder
	page.WriteString("# Reasons\n\n" +
		"Every decision names its reason: in `assent run`, in `assent replay --explain`, in logs and in decision lines.\n" +
		"The audit log has a reason in each decision, answer, net and gap.\n" +
		"`pend` means that a person is asked; its reason is the first fact that kept the request off the automatic path.\n" +
		"Reasons are part of the public contract and hold nothing from a request.\n")
	for _, p := range reasonPackages {
		rows, err := constants(filepath.Join(root, p.dir), "Reason")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n| reason | meaning |\n|---|---|\n", p.title, p.intro)
		for _, r := range rows {
			fmt.Fprintf(&page, "| `%s` | %s |\n", r.text, strings.ReplaceAll(r.meaning, "|", "\\|"))
		}
	}
	events, err := constants(filepath.Join(root, "internal/host/audit"), "Event")
	page.WriteString("\n## Events of the audit log\n\n[audit.md](audit.md) says what each record holds.\n\n")
	for _, e := range events {
		fmt.Fprintf(&page, "- `%s`: %s\n", e.text, e.meaning)
	}
	return page.String(), err
}

// constant is one with a text of its own, and what its comment says of it.
type constant struct{ text, meaning string }

// constants are those of a type, in the package in a folder.
func constants(dir, of string) (rows []constant, err error) {
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
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.CONST {
				rows = append(rows, ofDecl(d, of)...)
			}
		}
	}
	return rows, nil
}

func ofDecl(decl *ast.GenDecl, of string) (rows []constant) {
	for _, s := range decl.Specs {
		spec := s.(*ast.ValueSpec)
		if len(spec.Values) != 1 || typeName(spec.Type) != of {
			continue
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			continue
		}
		text, _ := strconv.Unquote(literal.Value)
		comment := cmp.Or(spec.Comment.Text(), spec.Doc.Text(), decl.Doc.Text())
		comment = strings.TrimPrefix(strings.TrimPrefix(comment, spec.Names[0].Name), ":")
		rows = append(rows, constant{text, strings.Join(strings.Fields(comment), " ")})
	}
	return rows
}

// typeName is the name of a type, without that of its package.
func typeName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}
