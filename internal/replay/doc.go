// Package replay sends recorded traffic and case files through the pipeline.
// Everything decides as in a live run, except what needs a live endpoint.
package replay
