// SPDX-License-Identifier: Apache-2.0

// Package main is kube-apiserver, kube-controller-manager, kube-scheduler and kubelet in one program, by the name that it is
// called: they share most of their code, so they are linked, and unpacked, once.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"

	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var programs = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubelet":                 kubelet.NewKubeletCommand,
}

func run() error {
	name := filepath.Base(os.Args[0])
	program, known := programs[name]
	if !known {
		return fmt.Errorf("no program is called %s", name)
	}
	rand.Seed(time.Now().UnixNano())
	pflag.CommandLine.SetNormalizeFunc(flag.WordSepNormalizeFunc)
	logs.InitLogs()
	defer logs.FlushLogs()
	return program().Execute()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
