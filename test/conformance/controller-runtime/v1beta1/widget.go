// Package v1beta1 is an older version of widgets. It has both sides of a widget in one text.
package v1beta1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/scheme"

	v1 "quorate/test/conformance/controller-runtime/v1"
)

var (
	GroupVersion  = schema.GroupVersion{Group: "conformance.example.com", Version: "v1beta1"}
	schemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}
	AddToScheme   = schemeBuilder.AddToScheme
)

func init() {
	schemeBuilder.Register(&Widget{}, &WidgetList{})
}

type WidgetSpec struct {
	// Size is the width and the height, such as "3x4".
	Size  string `json:"size"`
	Color string `json:"color,omitempty"`
}

type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec      `json:"spec"`
	Status            v1.WidgetStatus `json:"status,omitempty"`
}

type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

func (w *Widget) ConvertTo(hub conversion.Hub) error {
	to := hub.(*v1.Widget)
	to.ObjectMeta = w.ObjectMeta
	to.Spec.Color = w.Spec.Color
	to.Status = w.Status
	if _, err := fmt.Sscanf(w.Spec.Size, "%dx%d", &to.Spec.Width, &to.Spec.Height); err != nil {
		return fmt.Errorf("size %q: %w", w.Spec.Size, err)
	}
	return nil
}

func (w *Widget) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*v1.Widget)
	w.ObjectMeta = from.ObjectMeta
	w.Spec = WidgetSpec{Size: fmt.Sprintf("%dx%d", from.Spec.Width, from.Spec.Height), Color: from.Spec.Color}
	w.Status = from.Status
	return nil
}

func (w *Widget) DeepCopyObject() runtime.Object {
	copied := *w
	w.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	copied.Status.Conditions = append([]metav1.Condition(nil), w.Status.Conditions...)
	return &copied
}

func (l *WidgetList) DeepCopyObject() runtime.Object {
	copied := &WidgetList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	for i := range l.Items {
		copied.Items = append(copied.Items, *l.Items[i].DeepCopyObject().(*Widget))
	}
	return copied
}
