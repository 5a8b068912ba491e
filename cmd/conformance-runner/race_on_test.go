//go:build race

package main

// underRace: SQLite is some ten times slower then, in processes of its own too.
const underRace = true
