// Package v1 is the version in which widgets are stored.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	GroupVersion  = schema.GroupVersion{Group: "conformance.example.com", Version: "v1"}
	schemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}
	AddToScheme   = schemeBuilder.AddToScheme
)

func init() {
	schemeBuilder.Register(&Widget{}, &WidgetList{})
}

type WidgetSpec struct {
	Width  int32  `json:"width"`
	Height int32  `json:"height"`
	Color  string `json:"color,omitempty"`
}

type WidgetStatus struct {
	Area               int32              `json:"area,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	ReconciledBy       string             `json:"reconciledBy,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec"`
	Status            WidgetStatus `json:"status,omitempty"`
}

type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// Hub marks the version that all others convert to and from.
func (*Widget) Hub() {}

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
