package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// checks are the requests of one run, in a namespace of their own.
type checks struct {
	client    *kubernetes.Clientset
	place     place
	authority []byte
	namespace string
	warnings  *warnings
}

func newChecks(config *rest.Config, authority []byte, place place) (*checks, error) {
	heard := &warnings{}
	own := rest.CopyConfig(config)
	own.WarningHandler = heard
	client, err := kubernetes.NewForConfig(own)
	return &checks{client: client, place: place, authority: authority, warnings: heard}, err
}

func (c *checks) run(ctx context.Context) error {
	namespace := &core.Namespace{ObjectMeta: meta.ObjectMeta{GenerateName: "hooked-"}}
	namespace, err := c.client.CoreV1().Namespaces().Create(ctx, namespace, meta.CreateOptions{})
	if err != nil {
		return err
	}
	c.namespace = namespace.Name
	defer c.client.CoreV1().Namespaces().Delete(context.WithoutCancel(ctx), c.namespace, meta.DeleteOptions{})
	if service := c.place.service; service != nil {
		services := c.client.CoreV1().Services(service.Namespace)
		if _, err := services.Create(ctx, service, meta.CreateOptions{}); err != nil {
			return err
		}
		defer services.Delete(context.WithoutCancel(ctx), service.Name, meta.DeleteOptions{})
	}
	defer c.unregister(context.WithoutCancel(ctx))
	if err := c.register(ctx); err != nil {
		return err
	}
	for _, check := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"defaults and validates", c.configMaps},
		{"dry run", c.dryRun},
		{"deletions", c.deletions},
		{"scale", c.scale},
		{"status", c.status},
		{"exec", c.exec},
		{"panic", c.panics},
	} {
		if err := check.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", check.name, err)
		}
	}
	return nil
}

func (c *checks) register(ctx context.Context) error {
	api := c.client.AdmissionregistrationV1()
	none, fail := registration.SideEffectClassNone, registration.Fail
	selector := &meta.LabelSelector{MatchLabels: map[string]string{core.LabelMetadataName: c.namespace}}
	config := func(path string) registration.WebhookClientConfig {
		config := c.place.config(path)
		config.CABundle = c.authority
		return config
	}
	rule := func(group, resource string, operations ...registration.OperationType) []registration.RuleWithOperations {
		return []registration.RuleWithOperations{{
			Operations: operations,
			Rule:       registration.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}},
		}}
	}
	validating := func(name, path string, rules []registration.RuleWithOperations) registration.ValidatingWebhook {
		return registration.ValidatingWebhook{
			Name: name + ".example.com", ClientConfig: config(path), Rules: rules, FailurePolicy: &fail, SideEffects: &none,
			AdmissionReviewVersions: []string{"v1"}, NamespaceSelector: selector,
		}
	}
	mutating := &registration.MutatingWebhookConfiguration{
		ObjectMeta: meta.ObjectMeta{Name: c.namespace},
		Webhooks: []registration.MutatingWebhook{{
			Name: "default.example.com", ClientConfig: config(defaultPath), FailurePolicy: &fail, SideEffects: &none,
			Rules:                   rule("", "configmaps", registration.Create, registration.Update),
			AdmissionReviewVersions: []string{"v1"}, NamespaceSelector: selector,
		}},
	}
	if _, err := api.MutatingWebhookConfigurations().Create(ctx, mutating, meta.CreateOptions{}); err != nil {
		return err
	}
	_, err := api.ValidatingWebhookConfigurations().Create(ctx, &registration.ValidatingWebhookConfiguration{
		ObjectMeta: meta.ObjectMeta{Name: c.namespace},
		Webhooks: []registration.ValidatingWebhook{
			validating("validate", validatePath, rule("", "configmaps", registration.OperationAll)),
			validating("scale", scalePath, rule("apps", "deployments/scale", registration.Update)),
			validating("status", statusPath, rule("", "pods/status", registration.Update)),
			validating("exec", execPath, rule("", "pods/exec", registration.Connect)),
			validating("panic", panicPath, rule("", "services", registration.Create)),
		},
	}, meta.CreateOptions{})
	return err
}

// unregister comes before the deletion of the namespace, which the webhooks would refuse.
func (c *checks) unregister(ctx context.Context) {
	api := c.client.AdmissionregistrationV1()
	_ = api.MutatingWebhookConfigurations().Delete(ctx, c.namespace, meta.DeleteOptions{})
	_ = api.ValidatingWebhookConfigurations().Delete(ctx, c.namespace, meta.DeleteOptions{})
}

func (c *checks) configMaps(ctx context.Context) error {
	api := c.client.CoreV1().ConfigMaps(c.namespace)
	created, err := api.Create(ctx, configMap("a", "good"), meta.CreateOptions{})
	if err != nil {
		return err
	}
	if err := expect(created.Labels["seen/by"], "CREATE"); err != nil {
		return err
	}
	if err := c.warnings.expect("created a"); err != nil {
		return err
	}
	created.Data["value"] = "better"
	updated, err := api.Update(ctx, created, meta.UpdateOptions{})
	if err != nil {
		return err
	}
	if err := expect(updated.Labels["seen/by"], "UPDATE"); err != nil {
		return err
	}
	if err := c.warnings.expect("from good to better"); err != nil {
		return err
	}
	_, err = api.Create(ctx, configMap("b", "bad"), meta.CreateOptions{})
	return refused(err, http.StatusForbidden, `admission webhook "validate.example.com" denied the request: the value is bad`)
}

func (c *checks) dryRun(ctx context.Context) error {
	api := c.client.CoreV1().ConfigMaps(c.namespace)
	options := meta.CreateOptions{DryRun: []string{meta.DryRunAll}}
	shown, err := api.Create(ctx, configMap("dry", "good"), options)
	if err != nil {
		return err
	}
	if err := expect(shown.Labels["seen/by"], "CREATE"); err != nil {
		return err
	}
	if _, err = api.Get(ctx, "dry", meta.GetOptions{}); !errors.IsNotFound(err) {
		return fmt.Errorf("a dry run has stored something: %v", err)
	}
	_, err = api.Create(ctx, configMap("dry", "bad"), options)
	return refused(err, http.StatusForbidden, `admission webhook "validate.example.com" denied the request: the value is bad`)
}

func (c *checks) deletions(ctx context.Context) error {
	api := c.client.CoreV1().ConfigMaps(c.namespace)
	if _, err := api.Create(ctx, configMap("kept", "kept"), meta.CreateOptions{}); err != nil {
		return err
	}
	if err := api.Delete(ctx, "a", meta.DeleteOptions{}); err != nil {
		return err
	}
	refusal := `admission webhook "validate.example.com" denied the request: it is kept`
	if err := refused(api.Delete(ctx, "kept", meta.DeleteOptions{}), http.StatusForbidden, refusal); err != nil {
		return err
	}
	return refused(api.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{}), http.StatusForbidden, refusal)
}

func (c *checks) scale(ctx context.Context) error {
	api := c.client.AppsV1().Deployments(c.namespace)
	labels := map[string]string{"app": "web"}
	deployment := &apps.Deployment{
		ObjectMeta: meta.ObjectMeta{Name: "web"},
		Spec: apps.DeploymentSpec{
			Selector: &meta.LabelSelector{MatchLabels: labels},
			Template: core.PodTemplateSpec{ObjectMeta: meta.ObjectMeta{Labels: labels}, Spec: podSpec},
		},
	}
	if _, err := api.Create(ctx, deployment, meta.CreateOptions{}); err != nil {
		return err
	}
	for replicas, message := range map[int32]string{
		replicasMax:     "",
		replicasMax + 1: `admission webhook "scale.example.com" denied the request: 6 replicas of web`,
	} {
		scale, err := api.GetScale(ctx, "web", meta.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = replicas
		_, err = api.UpdateScale(ctx, "web", scale, meta.UpdateOptions{})
		if message == "" && err != nil {
			return err
		}
		if message != "" {
			if err := refused(err, http.StatusForbidden, message); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checks) status(ctx context.Context) error {
	api := c.client.CoreV1().Pods(c.namespace)
	pod, err := c.createPod(ctx, "p")
	if err != nil {
		return err
	}
	pod.Status.Phase = core.PodRunning
	if pod, err = api.UpdateStatus(ctx, pod, meta.UpdateOptions{}); err != nil {
		return err
	}
	pod.Status.Phase = core.PodFailed
	_, err = api.UpdateStatus(ctx, pod, meta.UpdateOptions{})
	return refused(err, http.StatusForbidden, `admission webhook "status.example.com" denied the request: status is Failed`)
}

func (c *checks) exec(ctx context.Context) error {
	options := &core.PodExecOptions{Command: []string{"ls", "-l"}, Stdout: true}
	err := c.client.CoreV1().RESTClient().Post().Namespace(c.namespace).Resource("pods").Name("p").SubResource("exec").
		VersionedParams(options, scheme.ParameterCodec).Do(ctx).Error()
	return refused(err, http.StatusForbidden, `admission webhook "exec.example.com" denied the request: CONNECT [ls -l] in p`)
}

func (c *checks) panics(ctx context.Context) error {
	service := &core.Service{
		ObjectMeta: meta.ObjectMeta{Name: "s"},
		Spec:       core.ServiceSpec{Ports: []core.ServicePort{{Port: 80}}},
	}
	_, err := c.client.CoreV1().Services(c.namespace).Create(ctx, service, meta.CreateOptions{})
	return refused(err, http.StatusInternalServerError, `admission webhook "panic.example.com" denied the request: panic: as asked [recovered]`)
}

// createPod waits for the service account of the namespace, which a controller makes.
func (c *checks) createPod(ctx context.Context, name string) (*core.Pod, error) {
	pod := &core.Pod{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: podSpec}
	for {
		created, err := c.client.CoreV1().Pods(c.namespace).Create(ctx, pod, meta.CreateOptions{})
		if err == nil || !strings.Contains(err.Error(), "serviceaccount") || ctx.Err() != nil {
			return created, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

var podSpec = core.PodSpec{Containers: []core.Container{{Name: "main", Image: "example.com/main:1"}}}

func configMap(name, value string) *core.ConfigMap {
	return &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
}

func expect(got, want string) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("got %q, want %q", got, want)
}

func refused(err error, code int32, message string) error {
	status, ok := err.(errors.APIStatus)
	if !ok {
		return fmt.Errorf("want a refusal, got %v", err)
	}
	if got := status.Status(); got.Code != code || got.Message != message {
		return fmt.Errorf("got %d %q, want %d %q", got.Code, got.Message, code, message)
	}
	return nil
}

// warnings keeps the warnings of the answers since the last look.
type warnings struct {
	lock  sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) expect(want string) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	got := strings.Join(w.texts, "; ")
	w.texts = nil
	return expect(got, want)
}
