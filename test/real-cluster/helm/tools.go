//go:build tools

// Package tools keeps what the chart is rendered with in go.mod.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
