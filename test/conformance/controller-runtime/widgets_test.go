package widgets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	v1 "quorate/test/conformance/controller-runtime/v1"
	"quorate/test/conformance/controller-runtime/v1beta1"
)

const (
	namespace = "widgets"
	leaseName = "widgets-controller"
	patience  = 2 * time.Minute
)

var types = runtime.NewScheme()

func init() {
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, apiextensionsv1.AddToScheme, v1.AddToScheme, v1beta1.AddToScheme,
	} {
		if err := add(types); err != nil {
			panic(err)
		}
	}
}

// replicas returns the configuration for each server that KUBECONFIGS names.
func replicas(t *testing.T) []*rest.Config {
	t.Helper()
	var configs []*rest.Config
	for _, path := range filepath.SplitList(os.Getenv("KUBECONFIGS")) {
		config, err := clientcmd.BuildConfigFromFlags("", path)
		must(t, err)
		config.QPS = -1 // The tests wait for the server, not for the client's own limit.
		configs = append(configs, config)
	}
	if len(configs) == 0 {
		t.Fatal("KUBECONFIGS names no server; run.sh starts one")
	}
	return configs
}

// cluster gives the tests a client of each replica in turn, so that a write and the next read use different ones.
type cluster struct {
	configs []*rest.Config
	clients []client.Client
	next    int
}

func (c *cluster) client() client.Client {
	c.next++
	return c.clients[c.next%len(c.clients)]
}

func (c *cluster) config(i int) *rest.Config {
	return c.configs[i%len(c.configs)]
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits until the check finds nothing wrong.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}

// startManager runs a manager until the returned function is called.
func startManager(t *testing.T, manager ctrl.Manager) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- manager.Start(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("manager: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// startController runs one candidate for the leadership among the controllers.
func startController(t *testing.T, config *rest.Config, identity string, cleaned chan<- string) (stop func()) {
	t.Helper()
	lease, renew, retry := 6*time.Second, 4*time.Second, time.Second
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        types,
		Metrics:                       server.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
	})
	must(t, err)
	must(t, (&Reconciler{Client: manager.GetClient(), Identity: identity, Cleaned: cleaned}).SetupWithManager(manager))
	return startManager(t, manager)
}

// startConversion serves the conversion webhook.
func startConversion(t *testing.T, config *rest.Config, options envtest.WebhookInstallOptions) {
	t.Helper()
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  types,
		Metrics: server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir,
		}),
	})
	must(t, err)
	must(t, ctrl.NewWebhookManagedBy(manager, &v1.Widget{}).Complete())
	startManager(t, manager)
	eventually(t, "the webhook server starts", func() error { return manager.GetWebhookServer().StartedChecker()(nil) })
}

func TestController(t *testing.T) {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	ctx := context.Background()
	c := &cluster{configs: replicas(t)}
	for _, config := range c.configs {
		one, err := client.New(config, client.Options{Scheme: types})
		must(t, err)
		c.clients = append(c.clients, one)
	}
	must(t, client.IgnoreAlreadyExists(c.client().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})))

	existing := true
	environment := &envtest.Environment{
		UseExistingCluster:       &existing,
		Config:                   c.config(0),
		Scheme:                   types,
		CRDDirectoryPaths:        []string{"widgets.yaml"},
		ErrorIfCRDPathMissing:    true,
		AttachControlPlaneOutput: false,
	}
	_, err := environment.Start()
	must(t, err)
	t.Cleanup(func() { must(t, environment.Stop()) })
	startConversion(t, c.config(0), environment.WebhookInstallOptions)

	cleaned := make(chan string, 1000)
	stop := map[string]func(){}
	for i, identity := range []string{"a", "b"} {
		stop[identity] = startController(t, c.config(i+1), identity, cleaned)
	}

	widget := &v1.Widget{ObjectMeta: metav1.ObjectMeta{Name: "first", Namespace: namespace}, Spec: v1.WidgetSpec{Width: 3, Height: 4}}
	key := client.ObjectKeyFromObject(widget)
	must(t, c.client().Create(ctx, widget))

	t.Run("reconciles a widget", func(t *testing.T) {
		awaitArea(t, c, key, 12)
		got := &v1.Widget{}
		must(t, c.client().Get(ctx, key, got))
		if got.Spec.Color != "red" || len(got.Finalizers) != 1 || got.Generation != 1 {
			t.Errorf("color %q, finalizers %v, generation %d", got.Spec.Color, got.Finalizers, got.Generation)
		}
		if !meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
			t.Errorf("conditions %v", got.Status.Conditions)
		}
		owned := &corev1.ConfigMap{}
		must(t, c.client().Get(ctx, key, owned))
		if owner := metav1.GetControllerOf(owned); owner == nil || owner.UID != got.UID || owned.Data["area"] != "12" {
			t.Errorf("owner %v, data %v", owner, owned.Data)
		}
	})

	t.Run("makes an owned object again", func(t *testing.T) {
		must(t, c.client().Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: namespace}}))
		eventually(t, "the ConfigMap returns", func() error { return c.client().Get(ctx, key, &corev1.ConfigMap{}) })
	})

	t.Run("converts reads and writes", func(t *testing.T) {
		old := &v1beta1.Widget{}
		must(t, c.client().Get(ctx, key, old))
		if old.Spec.Size != "3x4" || old.Status.Area != 12 {
			t.Fatalf("spec %v, status %v", old.Spec, old.Status)
		}
		eventually(t, "the update is accepted", func() error {
			if err := c.client().Get(ctx, key, old); err != nil {
				return err
			}
			old.Spec.Size = "5x6"
			return c.client().Update(ctx, old)
		})
		awaitArea(t, c, key, 30)

		second := &v1beta1.Widget{ObjectMeta: metav1.ObjectMeta{Name: "second", Namespace: namespace}, Spec: v1beta1.WidgetSpec{Size: "2x2", Color: "blue"}}
		must(t, c.client().Create(ctx, second))
		awaitArea(t, c, client.ObjectKeyFromObject(second), 4)

		refused := &v1beta1.Widget{ObjectMeta: metav1.ObjectMeta{Name: "refused", Namespace: namespace}, Spec: v1beta1.WidgetSpec{Size: "two"}}
		if err := c.client().Create(ctx, refused); !apierrors.IsInvalid(err) {
			t.Errorf("a size that does not match its pattern: %v", err)
		}
		if err := c.client().Create(ctx, &v1.Widget{ObjectMeta: metav1.ObjectMeta{Name: "refused", Namespace: namespace}, Spec: v1.WidgetSpec{Width: 500, Height: 500}}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "too large") {
			t.Errorf("a widget that breaks its rule: %v", err)
		}
	})

	t.Run("selects by fields in both versions", func(t *testing.T) {
		blue := client.MatchingFields{"spec.color": "blue"}
		news, olds := &v1.WidgetList{}, &v1beta1.WidgetList{}
		must(t, c.client().List(ctx, news, client.InNamespace(namespace), blue))
		must(t, c.client().List(ctx, olds, client.InNamespace(namespace), blue))
		if len(news.Items) != 1 || len(olds.Items) != 1 || olds.Items[0].Spec.Size != "2x2" {
			t.Errorf("v1 %v, v1beta1 %v", news.Items, olds.Items)
		}
		must(t, c.client().List(ctx, olds, client.InNamespace(namespace), client.MatchingFields{"spec.size": "5x6"}))
		if len(olds.Items) != 1 || olds.Items[0].Name != key.Name {
			t.Errorf("v1beta1 by a field that only it has: %v", olds.Items)
		}
	})

	t.Run("keeps caches of both versions", func(t *testing.T) {
		informers, err := cache.New(c.config(2), cache.Options{Scheme: types, DefaultNamespaces: map[string]cache.Config{namespace: {}}})
		must(t, err)
		cacheCtx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() { _ = informers.Start(cacheCtx) }()
		olds := &v1beta1.WidgetList{}
		must(t, informers.List(cacheCtx, olds))
		must(t, c.client().Create(ctx, &v1.Widget{ObjectMeta: metav1.ObjectMeta{Name: "third", Namespace: namespace}, Spec: v1.WidgetSpec{Width: 7, Height: 8}}))
		eventually(t, "the cache of v1beta1 sees the new widget and its status", func() error {
			third := &v1beta1.Widget{}
			if err := informers.Get(cacheCtx, client.ObjectKey{Namespace: namespace, Name: "third"}, third); err != nil {
				return err
			}
			if third.Spec.Size != "7x8" || third.Status.Area != 56 {
				return fmt.Errorf("%v %v", third.Spec, third.Status)
			}
			return nil
		})
	})

	t.Run("keeps spec and status apart", func(t *testing.T) {
		got := &v1.Widget{}
		eventually(t, "the status is written", func() error {
			if err := c.client().Get(ctx, key, got); err != nil {
				return err
			}
			got.Spec.Width = 9
			got.Status.Area = -1
			return c.client().Status().Update(ctx, got)
		})
		if got.Spec.Width != 5 || got.Generation != 2 {
			t.Errorf("width %d, generation %d", got.Spec.Width, got.Generation)
		}
		awaitArea(t, c, key, 30)
	})

	t.Run("refuses a stale update", func(t *testing.T) {
		stale := &v1.Widget{}
		must(t, c.client().Get(ctx, key, stale))
		stale.ResourceVersion = "1"
		if err := c.client().Update(ctx, stale); !apierrors.IsConflict(err) {
			t.Errorf("%v", err)
		}
	})

	t.Run("applies fields in both versions", func(t *testing.T) {
		apply := func(version, name string, spec map[string]any) error {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
			object.SetAPIVersion(v1.GroupVersion.Group + "/" + version)
			object.SetKind("Widget")
			object.SetNamespace(namespace)
			object.SetName(name)
			return c.client().Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("tester"))
		}
		must(t, apply("v1", "applied", map[string]any{"width": int64(2), "height": int64(5)}))
		awaitArea(t, c, client.ObjectKey{Namespace: namespace, Name: "applied"}, 10)
		must(t, apply("v1beta1", "applied", map[string]any{"size": "2x6"}))
		awaitArea(t, c, client.ObjectKey{Namespace: namespace, Name: "applied"}, 12)
	})

	t.Run("hands the leadership over", func(t *testing.T) {
		lease := &coordinationv1.Lease{}
		leader := func() string {
			got := &v1.Widget{}
			must(t, c.client().Get(ctx, key, got))
			return got.Status.ReconciledBy
		}
		before := leader()
		must(t, c.client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: leaseName}, lease))
		stop[before]()
		must(t, c.client().Create(ctx, &v1.Widget{ObjectMeta: metav1.ObjectMeta{Name: "fourth", Namespace: namespace}, Spec: v1.WidgetSpec{Width: 6, Height: 6}}))
		fourth := client.ObjectKey{Namespace: namespace, Name: "fourth"}
		awaitArea(t, c, fourth, 36)
		got := &v1.Widget{}
		must(t, c.client().Get(ctx, fourth, got))
		if got.Status.ReconciledBy == before {
			t.Errorf("still reconciled by %s", before)
		}
		after := &coordinationv1.Lease{}
		must(t, c.client().Get(ctx, client.ObjectKeyFromObject(lease), after))
		if *after.Spec.HolderIdentity == *lease.Spec.HolderIdentity {
			t.Errorf("the Lease still belongs to %s", *after.Spec.HolderIdentity)
		}
	})

	t.Run("cleans up before a widget goes", func(t *testing.T) {
		must(t, c.client().Delete(ctx, &v1beta1.Widget{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: namespace}}))
		eventually(t, "the widget goes", func() error { return gone(c.client().Get(ctx, key, &v1.Widget{})) })
		select {
		case name := <-cleaned:
			if name != key.Name {
				t.Errorf("%s was cleaned up", name)
			}
		case <-time.After(patience):
			t.Error("the finalizer was removed by nobody")
		}
		if err := gone(c.client().Get(ctx, key, &corev1.ConfigMap{})); err != nil {
			t.Error(err)
		}
	})

	t.Run("reconciles a crowd", func(t *testing.T) {
		const crowd = 200
		for i := range crowd {
			must(t, c.client().Create(ctx, &v1beta1.Widget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("crowd-%d", i), Namespace: namespace}, Spec: v1beta1.WidgetSpec{Size: fmt.Sprintf("%dx2", i+1)}}))
		}
		eventually(t, "all are reconciled", func() error {
			list := &v1beta1.WidgetList{}
			if err := c.client().List(ctx, list, client.InNamespace(namespace)); err != nil {
				return err
			}
			for _, one := range list.Items {
				if one.Status.ObservedGeneration != one.Generation {
					return fmt.Errorf("%s is not reconciled", one.Name)
				}
			}
			return nil
		})
	})

	t.Run("removes all widgets with their definition", func(t *testing.T) {
		definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.conformance.example.com"}}
		must(t, c.client().Delete(ctx, definition))
		eventually(t, "the definition goes", func() error {
			return gone(c.client().Get(ctx, client.ObjectKeyFromObject(definition), definition))
		})
		owned := &corev1.ConfigMapList{}
		must(t, c.client().List(ctx, owned, client.InNamespace(namespace)))
		for _, one := range owned.Items {
			if metav1.GetControllerOf(&one) != nil {
				t.Errorf("ConfigMap %s is left", one.Name)
			}
		}
	})
}

func awaitArea(t *testing.T, c *cluster, key client.ObjectKey, area int32) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s gets the area %d", key.Name, area), func() error {
		got := &v1.Widget{}
		if err := c.client().Get(context.Background(), key, got); err != nil {
			return err
		}
		if got.Status.Area != area || got.Status.ObservedGeneration != got.Generation {
			return fmt.Errorf("status %+v of generation %d", got.Status, got.Generation)
		}
		return nil
	})
}

func gone(err error) error {
	if err == nil {
		return errors.New("it is still there")
	}
	return client.IgnoreNotFound(err)
}
