package repotest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The sizes past which production code is split: a file has one idea, a
// function fits a screen. Tables and generated code say so by their shape.
const (
	maxFileLines     = 600
	maxFunctionLines = 70
	flatStatements   = 3 // a longer function with so few statements is a table
)

// checkSize says which parts of a production file are too long.
func checkSize(fset *token.FileSet, file *ast.File, name string) []string {
	var wrong []string
	if lines := fset.Position(file.End()).Line; lines > maxFileLines {
		wrong = append(wrong, fmt.Sprintf("%s has %d lines, more than %d", name, lines, maxFileLines))
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		first, last := fset.Position(fn.Pos()).Line, fset.Position(fn.End()).Line
		if lines := last - first + 1; lines > maxFunctionLines && len(fn.Body.List) > flatStatements {
			wrong = append(wrong, fmt.Sprintf("%s:%d: %s has %d lines, more than %d", name, first, fn.Name.Name, lines, maxFunctionLines))
		}
	}
	return wrong
}

// checkDocs says which exported names of a production file have no sentence.
// A declaration group's sentence, or a line's own comment, counts for its
// constants and variables.
func checkDocs(fset *token.FileSet, file *ast.File, name string) []string {
	var wrong []string
	missing := func(id *ast.Ident) {
		wrong = append(wrong, fmt.Sprintf("%s:%d: %s has no doc comment", name, fset.Position(id.Pos()).Line, id.Name))
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				missing(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || len(d.Specs) > 1) {
						missing(s.Name)
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						if id.IsExported() && s.Doc == nil && s.Comment == nil && d.Doc == nil {
							missing(id)
						}
					}
				}
			}
		}
	}
	return wrong
}

// exportedReceiver reports whether a function is one that users can see: no
// method, or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// checkPackageDoc says what is wrong with a package's doc.go: it must be there
// and open with the package's name (a command's with Command).
func checkPackageDoc(dir string, docs map[string]*ast.File) string {
	doc, ok := docs["doc.go"]
	if !ok {
		return fmt.Sprintf("%s has no doc.go", dir)
	}
	want := "Package " + doc.Name.Name + " "
	if doc.Name.Name == "main" {
		want = "Command " + path.Base(dir) + " "
	}
	if doc.Doc == nil || !strings.HasPrefix(doc.Doc.Text(), want) {
		return fmt.Sprintf("%s/doc.go doesn't open with %q", dir, want)
	}
	return ""
}

var (
	clauseForm   = regexp.MustCompile(`\b(SCP|GRF|RUN|CLM|EVT|VAL|LIM|WAK|PRN|TX|LIF|ADM)-(\d+)\b`)
	decisionForm = regexp.MustCompile(`\bADR (\d{4})\b`)
	mentionForm  = regexp.MustCompile(`[\w./-]+\.md\b`)
)

// checkCitations says which clauses, decisions and documents the comments of a
// file name that aren't there.
func checkCitations(fset *token.FileSet, file *ast.File, clauses, decisions []string, exists func(name string) bool) []string {
	var wrong []string
	for _, group := range file.Comments {
		for _, c := range group.List {
			at := fset.Position(c.Pos())
			for _, clause := range clauseForm.FindAllString(c.Text, -1) {
				if !slices.Contains(clauses, clause) {
					wrong = append(wrong, fmt.Sprintf("%s cites %s, which docs/contract.md doesn't have", at, clause))
				}
			}
			for _, m := range decisionForm.FindAllStringSubmatch(c.Text, -1) {
				if !slices.Contains(decisions, m[1]) {
					wrong = append(wrong, fmt.Sprintf("%s cites ADR %s, which docs/adr doesn't have", at, m[1]))
				}
			}
			for _, name := range mentionForm.FindAllString(c.Text, -1) {
				if !exists(name) {
					wrong = append(wrong, fmt.Sprintf("%s names %s, which doesn't exist", at, name))
				}
			}
		}
	}
	return wrong
}

// clausesOf returns the clauses that the contract defines: those that open a
// paragraph, a list item, a heading or a table row, in bold or not.
func clausesOf(contract string) []string {
	defined := regexp.MustCompile(`(?m)^[\s#|*-]*` + clauseForm.String()[2:])
	var found []string
	for _, m := range defined.FindAllStringSubmatch(contract, -1) {
		found = append(found, m[1]+"-"+m[2])
	}
	return found
}
