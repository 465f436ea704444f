package main

import (
	"fmt"

	registration "k8s.io/api/admissionregistration/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	serviceName      = "hooks"
	serviceNamespace = "default"
	serviceHost      = serviceName + "." + serviceNamespace + ".svc"
)

// place says where an API server finds the webhooks.
type place struct {
	name string
	// service is created first; nil for webhooks named by URL.
	service *core.Service
	config  func(path string) registration.WebhookClientConfig
}

func byURL(port int) place {
	return place{name: "url", config: func(path string) registration.WebhookClientConfig {
		url := fmt.Sprintf("https://localhost:%d%s", port, path)
		return registration.WebhookClientConfig{URL: &url}
	}}
}

// byService names the webhooks by a Service that stands for this machine.
func byService(port int) place {
	service := &core.Service{
		ObjectMeta: meta.ObjectMeta{Name: serviceName, Namespace: serviceNamespace},
		Spec:       core.ServiceSpec{Type: core.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	return place{name: "service", service: service, config: func(path string) registration.WebhookClientConfig {
		number := int32(port)
		return registration.WebhookClientConfig{Service: &registration.ServiceReference{
			Namespace: serviceNamespace, Name: serviceName, Path: &path, Port: &number,
		}}
	}}
}
