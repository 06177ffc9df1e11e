// The first peer's rollout loop, as far as a move from it and back to it takes: every interval it looks at each group,
// and deletes pods by their names, without preconditions. It scales nothing, knows no budgets and no pauses, and takes a
// limit that is no whole number for 1. On SIGTERM it finishes its pass, and ends with 0.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	config := flag.String("kubernetes.config-file", "", "a kubeconfig in JSON, with a token")
	namespace := flag.String("kubernetes.namespace", "", "what it serves")
	interval := flag.Duration("reconcile.interval", 5*time.Second, "pause between two looks")
	flag.Parse()

	ending := make(chan os.Signal, 1)
	signal.Notify(ending, syscall.SIGTERM, syscall.SIGINT)
	api, err := connect(*config, *namespace)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	loop := roller{api}
	fmt.Fprintln(os.Stderr, "started")
	for {
		if err := loop.reconcile(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		select {
		case <-ending:
			fmt.Fprintln(os.Stderr, "ended")
			return
		case <-time.After(*interval):
		}
	}
}
