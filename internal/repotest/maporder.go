package repotest

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// orderFree is the comment that vouches for an iteration whose order can't
// reach a result in a way that the rule can't see. It stands on the line of the
// range or the line above, and gives the reason.
const orderFree = "order-free:"

// mapOrder finds iterations over maps whose order could reach a result. These
// forms can't, and pass by themselves:
//
//   - a loop that only sets or deletes entries of other maps under its key, counts,
//     or collects into a slice that the same function then sorts;
//   - a loop that leaves early with constants only;
//   - maps.Keys, Values or All directly inside slices.Sorted, SortedFunc,
//     SortedStableFunc, maps.Collect or maps.Insert, or collected into a slice that
//     the same function then sorts.
//
// Everything else needs the comment, or value.Keys.
type mapOrder struct {
	fset  *token.FileSet
	info  *types.Info
	found []string
}

// checkMapOrder returns a message for each suspicious iteration of a file.
func checkMapOrder(fset *token.FileSet, info *types.Info, file *ast.File) []string {
	m := &mapOrder{fset: fset, info: info}
	vouched := m.vouched(file)
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				if m.isMap(n.X) && !vouched[m.line(n)] && !m.harmless(n, fn.Body) {
					m.report(n, "ranges over a map: use value.Keys, or say \"// order-free: reason\"")
				}
			case *ast.AssignStmt:
				m.checkCollected(n, fn.Body, vouched)
			case *ast.CallExpr:
				m.checkCall(n, vouched)
			}
			return true
		})
	}
	return m.found
}

// checkCollected vouches for an iterator that fills a slice which is sorted
// later.
func (m *mapOrder) checkCollected(s *ast.AssignStmt, body *ast.BlockStmt, vouched map[int]bool) {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return
	}
	slice, isName := s.Lhs[0].(*ast.Ident)
	call, isCall := s.Rhs[0].(*ast.CallExpr)
	if !isName || !isCall || !m.sortedAfter(slice, s.End(), body) {
		return
	}
	switch m.function(call) {
	case "slices.Collect", "slices.AppendSeq":
		m.vouchArguments(call, vouched)
	}
}

// vouchArguments marks the iterators among a call's arguments, which are visited
// after it.
func (m *mapOrder) vouchArguments(call *ast.CallExpr, vouched map[int]bool) {
	for _, arg := range call.Args {
		if inner, ok := arg.(*ast.CallExpr); ok && isMapIterator(m.function(inner)) {
			vouched[-int(inner.Pos())] = true
		}
	}
}

// checkCall looks at the arguments of a call for an iterator over a map. The
// calls that sort or collect into a map take one freely.
func (m *mapOrder) checkCall(call *ast.CallExpr, vouched map[int]bool) {
	name := m.function(call)
	if name == "" {
		return
	}
	switch name {
	case "slices.Sorted", "slices.SortedFunc", "slices.SortedStableFunc", "maps.Collect", "maps.Insert":
		m.vouchArguments(call, vouched)
	}
	if isMapIterator(name) && !vouched[-int(call.Pos())] && !vouched[m.line(call)] {
		m.report(call, name+" iterates in no order: sort it, or say \"// order-free: reason\"")
	}
}

func isMapIterator(name string) bool {
	return name == "maps.Keys" || name == "maps.Values" || name == "maps.All"
}

// harmless reports whether a loop is of a form whose result has no order.
func (m *mapOrder) harmless(loop *ast.RangeStmt, body *ast.BlockStmt) bool {
	if loop.Key == nil && loop.Value == nil {
		return true // only the count matters
	}
	for _, stmt := range loop.Body.List {
		if !m.harmlessStmt(stmt, loop, body) {
			return false
		}
	}
	return true
}

func (m *mapOrder) harmlessStmt(stmt ast.Stmt, loop *ast.RangeStmt, body *ast.BlockStmt) bool {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		return m.harmlessAssign(s, loop, body)
	case *ast.IncDecStmt:
		return true
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && m.isBuiltin(call, "delete")
	case *ast.ReturnStmt:
		for _, r := range s.Results {
			if !m.isConstant(r) {
				return false
			}
		}
		return true
	case *ast.BranchStmt:
		return s.Tok == token.CONTINUE
	case *ast.IfStmt:
		if s.Init != nil && !m.harmlessStmt(s.Init, loop, body) {
			return false
		}
		if s.Else != nil && !m.harmlessStmt(s.Else, loop, body) {
			return false
		}
		return m.harmlessStmt(s.Body, loop, body)
	case *ast.BlockStmt:
		for _, inner := range s.List {
			if !m.harmlessStmt(inner, loop, body) {
				return false
			}
		}
		return true
	}
	return false
}

// harmlessAssign allows new local names, entries of a map under the loop's own
// key, integer sums, and a slice that is sorted later.
func (m *mapOrder) harmlessAssign(s *ast.AssignStmt, loop *ast.RangeStmt, body *ast.BlockStmt) bool {
	if s.Tok == token.DEFINE {
		return true
	}
	for i, left := range s.Lhs {
		switch l := left.(type) {
		case *ast.IndexExpr:
			key, ok := loop.Key.(*ast.Ident)
			index, indexed := l.Index.(*ast.Ident)
			if !m.isMap(l.X) || !ok || !indexed || index.Name != key.Name {
				return false
			}
		case *ast.Ident:
			if l.Name == "_" || s.Tok == token.ADD_ASSIGN && m.isInteger(l) {
				continue
			}
			if i >= len(s.Rhs) {
				return false
			}
			call, ok := s.Rhs[i].(*ast.CallExpr)
			if !ok || !m.isBuiltin(call, "append") || !m.sortedAfter(l, loop.End(), body) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// sortedAfter reports whether the function sorts the slice after a place: by
// packages slices or sort, or by a function that is called sort-something.
func (m *mapOrder) sortedAfter(slice *ast.Ident, place token.Pos, body *ast.BlockStmt) bool {
	sorted := false
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Pos() < place || len(call.Args) == 0 {
			return true
		}
		arg, isName := call.Args[0].(*ast.Ident)
		name := m.function(call)
		own, isOwn := call.Fun.(*ast.Ident)
		sorts := strings.HasPrefix(name, "slices.Sort") || strings.HasPrefix(name, "sort.") ||
			isOwn && strings.HasPrefix(own.Name, "sort")
		if isName && arg.Name == slice.Name && sorts {
			sorted = true
		}
		return true
	})
	return sorted
}

// vouched returns the lines that an order-free comment covers: its own and the
// next one.
func (m *mapOrder) vouched(file *ast.File) map[int]bool {
	lines := map[int]bool{}
	for _, group := range file.Comments {
		for _, c := range group.List {
			_, reason, found := strings.Cut(c.Text, orderFree)
			if found && strings.TrimSpace(reason) != "" {
				lines[m.line(c)], lines[m.line(c)+1] = true, true
			}
		}
	}
	return lines
}

// function names a called package function as "pkg.Name", or "".
func (m *mapOrder) function(call *ast.CallExpr) string {
	fun := call.Fun
	if generic, ok := fun.(*ast.IndexExpr); ok {
		fun = generic.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	obj, ok := m.info.Uses[sel.Sel].(*types.Func)
	if !ok || obj.Pkg() == nil || obj.Signature().Recv() != nil {
		return ""
	}
	return obj.Pkg().Path() + "." + obj.Name()
}

func (m *mapOrder) isMap(x ast.Expr) bool {
	t := m.info.TypeOf(x)
	if t == nil {
		return false
	}
	if p, ok := t.(*types.TypeParam); ok {
		t = p.Constraint()
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

func (m *mapOrder) isInteger(x ast.Expr) bool {
	b, ok := m.info.TypeOf(x).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func (m *mapOrder) isConstant(x ast.Expr) bool {
	tv := m.info.Types[x]
	return tv.Value != nil || tv.IsNil()
}

func (m *mapOrder) isBuiltin(call *ast.CallExpr, name string) bool {
	id, ok := call.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := m.info.Uses[id].(*types.Builtin)
	return ok && b.Name() == name
}

func (m *mapOrder) line(n ast.Node) int { return m.fset.Position(n.Pos()).Line }

func (m *mapOrder) report(n ast.Node, what string) {
	m.found = append(m.found, m.fset.Position(n.Pos()).String()+": "+what)
}
