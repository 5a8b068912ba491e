// Package repotest tests the repository itself: that imports point the way
// ADR 0001 draws them, that core is pure, that each module stands alone, and
// that what the documents say is there.
//
// The module is never released and may see every other one, so tests of the
// engine over real adapters live here too.
//
// Rules are pure functions over what was parsed (an import, a syntax tree, a
// text), and each has a table of sources that it must refuse: a rule that can't
// fail proves nothing. The tests then apply the rules to the tree.
//
// The tests read files of other modules, which Go's test cache doesn't watch:
// run them with -count=1, as the Makefile does.
package repotest
