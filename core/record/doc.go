// Package record holds the plain data that a backend stores: runs, events,
// graph versions, and the transition that changes them together.
//
// A record is opaque canonical bytes (the document or payload that core
// encoded) plus promoted columns that a store needs for claiming, listing and
// fencing, an encoding label and a checksum. A backend never decodes the bytes;
// a reader proves them with Verify before it trusts them.
//
// Nothing here holds a func, a channel or an any, so every record can travel
// over a pipe. Byte slices belong to whoever built the record; a receiver that
// keeps a record keeps a copy (see the Clone methods).
package record
