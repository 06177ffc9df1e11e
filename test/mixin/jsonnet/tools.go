//go:build tools

// Package tools names the program to build, so that go.mod pins all that it needs.
package tools

import _ "github.com/google/go-jsonnet/cmd/jsonnet"
