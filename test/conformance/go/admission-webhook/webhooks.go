package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	autoscaling "k8s.io/api/autoscaling/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const (
	defaultPath  = "/default"
	validatePath = "/validate"
	scalePath    = "/scale"
	statusPath   = "/status"
	execPath     = "/exec"
	panicPath    = "/panic"
	replicasMax  = 5
)

// register adds all webhooks: a typed defaulter and validator of ConfigMaps, and handlers for subresources.
func register(mgr manager.Manager) error {
	if err := builder.WebhookManagedBy(mgr, &core.ConfigMap{}).
		WithDefaulter(configMaps{}).WithDefaulterCustomPath(defaultPath).
		WithValidator(configMaps{}).WithValidatorCustomPath(validatePath).
		Complete(); err != nil {
		return err
	}
	decoder := admission.NewDecoder(mgr.GetScheme())
	handle := func(path string, handler admission.HandlerFunc) {
		mgr.GetWebhookServer().Register(path, &webhook.Admission{Handler: handler})
	}
	handle(scalePath, func(_ context.Context, request admission.Request) admission.Response {
		scale := &autoscaling.Scale{}
		if err := decoder.Decode(request, scale); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if scale.Spec.Replicas > replicasMax {
			return admission.Denied(fmt.Sprintf("%d replicas of %s", scale.Spec.Replicas, request.Name))
		}
		return admission.Allowed("")
	})
	handle(statusPath, func(_ context.Context, request admission.Request) admission.Response {
		pod := &core.Pod{}
		if err := decoder.Decode(request, pod); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if request.SubResource != "status" || pod.Status.Phase != core.PodRunning {
			return admission.Denied(fmt.Sprintf("%s is %s", request.SubResource, pod.Status.Phase))
		}
		return admission.Allowed("")
	})
	handle(execPath, func(_ context.Context, request admission.Request) admission.Response {
		options := &core.PodExecOptions{}
		if err := decoder.Decode(request, options); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		return admission.Denied(fmt.Sprintf("%s %v in %s", request.Operation, options.Command, request.Name))
	})
	handle(panicPath, func(context.Context, admission.Request) admission.Response { panic("as asked") })
	return nil
}

// configMaps marks ConfigMaps as seen, and refuses those whose data says so.
type configMaps struct{}

func (configMaps) Default(ctx context.Context, object *core.ConfigMap) error {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return err
	}
	if object.Labels == nil {
		object.Labels = map[string]string{}
	}
	object.Labels["seen/by"] = string(request.Operation)
	return nil
}

func (configMaps) ValidateCreate(_ context.Context, object *core.ConfigMap) (admission.Warnings, error) {
	return admission.Warnings{"created " + object.Name}, judge(object)
}

func (configMaps) ValidateUpdate(_ context.Context, before, after *core.ConfigMap) (admission.Warnings, error) {
	return admission.Warnings{"from " + before.Data["value"] + " to " + after.Data["value"]}, judge(after)
}

func (configMaps) ValidateDelete(_ context.Context, object *core.ConfigMap) (admission.Warnings, error) {
	if object.Data["value"] == "kept" {
		return nil, errors.New("it is kept")
	}
	return nil, nil
}

func judge(object *core.ConfigMap) error {
	switch {
	case object.Labels["seen/by"] == "":
		return errors.New("the defaulter has not seen it")
	case object.Data["value"] == "bad":
		return errors.New("the value is bad")
	}
	return nil
}
