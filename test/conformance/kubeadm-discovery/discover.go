// Discovers a cluster as `kubeadm join` does, and prints the servers that the verified cluster-info names.
package main

import (
	"fmt"
	"os"
	"time"

	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/discovery/token"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: discover HOST:PORT TOKEN CA-HASH")
		os.Exit(2)
	}
	discovery := kubeadm.Discovery{BootstrapToken: &kubeadm.BootstrapTokenDiscovery{
		APIServerEndpoint: os.Args[1],
		Token:             os.Args[2],
		CACertHashes:      []string{os.Args[3]},
	}}
	config, err := token.RetrieveValidatedConfigInfo(nil, &discovery, 10*time.Second)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, cluster := range config.Clusters {
		fmt.Println(cluster.Server)
	}
}
