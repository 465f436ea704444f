import { action, builtInKind } from "../../registry/kind.ts";
import { pod } from "./pod.ts";
import { podBinding } from "./pod-binding.ts";

/** `bindings`: the same as `pods/x/binding`, with the name of the pod in the body alone. */
export const binding = builtInKind("bindings", {
  endpoint: action(({ registry, clock }) => podBinding({ pods: registry(pod), clock })),
  descriptions: {
    "core/v1.Binding": { "": "Puts a pod on a node.", target: "The node." },
  },
});
