// Command admission-webhook serves admission webhooks written with controller-runtime, registers them at an API server, and
// checks that each request gets the answer that its webhook gives.
//
//	go run . -kubeconfig FILE
//
// Each check runs twice: with webhooks named by URL, and by a Service of type ExternalName.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const timeout = 2 * time.Minute

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig of an administrator")
	flag.Parse()
	log.SetLogger(logr.Discard())
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := run(ctx, *kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func run(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	directory, err := os.MkdirTemp("", "admission-webhook-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	authority, err := writeCertificate(directory, "localhost", serviceHost)
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	if err := serve(ctx, config, directory, port); err != nil {
		return err
	}
	for _, place := range []place{byURL(port), byService(port)} {
		checks, err := newChecks(config, authority, place)
		if err != nil {
			return err
		}
		if err := checks.run(ctx); err != nil {
			return fmt.Errorf("by %s: %w", place.name, err)
		}
	}
	return nil
}

// serve starts the webhooks and waits until they answer.
func serve(ctx context.Context, config *rest.Config, directory string, port int) error {
	hooks := webhook.NewServer(webhook.Options{Host: "localhost", Port: port, CertDir: directory})
	mgr, err := manager.New(config, manager.Options{WebhookServer: hooks, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	if err := register(mgr); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	for hooks.StartedChecker()(nil) != nil {
		select {
		case err := <-ended:
			return fmt.Errorf("the webhooks do not start: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
