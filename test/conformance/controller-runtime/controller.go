// Package widgets is a controller as users of controller-runtime write them. Its tests run it against quorate.
package widgets

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	v1 "quorate/test/conformance/controller-runtime/v1"
)

const finalizer = "conformance.example.com/cleanup"

// Reconciler keeps one ConfigMap for each widget, and reports its area in the status.
type Reconciler struct {
	client.Client
	// Identity is shown in the status of the widgets that this reconciler has seen.
	Identity string
	// Cleaned receives the names of widgets whose finalizer has run.
	Cleaned chan<- string
}

func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	anyName := true
	return ctrl.NewControllerManagedBy(manager).
		For(&v1.Widget{}).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{SkipNameValidation: &anyName}).
		Complete(r)
}

func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &v1.Widget{}
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !widget.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.cleanUp(ctx, widget)
	}
	if controllerutil.AddFinalizer(widget, finalizer) {
		if err := r.Update(ctx, widget); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := r.keepConfigMap(ctx, widget); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, widget)
}

func (r *Reconciler) keepConfigMap(ctx context.Context, widget *v1.Widget) error {
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: widget.Name, Namespace: widget.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, owned, func() error {
		owned.Data = map[string]string{"area": fmt.Sprint(area(widget))}
		return controllerutil.SetControllerReference(widget, owned, r.Scheme())
	})
	return err
}

func (r *Reconciler) report(ctx context.Context, widget *v1.Widget) error {
	before := widget.DeepCopyObject().(*v1.Widget)
	widget.Status.Area = area(widget)
	widget.Status.ObservedGeneration = widget.Generation
	widget.Status.ReconciledBy = r.Identity
	meta.SetStatusCondition(&widget.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Measured", Message: "the area is known",
		ObservedGeneration: widget.Generation,
	})
	return r.Status().Patch(ctx, widget, client.MergeFrom(before))
}

func (r *Reconciler) cleanUp(ctx context.Context, widget *v1.Widget) error {
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: widget.Name, Namespace: widget.Namespace}}
	if err := client.IgnoreNotFound(r.Delete(ctx, owned)); err != nil {
		return err
	}
	if !controllerutil.RemoveFinalizer(widget, finalizer) {
		return nil
	}
	if err := r.Update(ctx, widget); err != nil {
		return err
	}
	select {
	case r.Cleaned <- widget.Name:
	default:
	}
	return nil
}

func area(widget *v1.Widget) int32 {
	return widget.Spec.Width * widget.Spec.Height
}
