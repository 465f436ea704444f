import type { Binding, Pod } from "../api/types/core-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { isResource } from "./attributes.ts";

const topologyLabels = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

/** Copies the zone and region of a pod's node to the pod, so that it knows where it runs. */
export function podTopologyLabels({ lookup }: { lookup: ObjectLookup }): AdmissionPlugin {
  return {
    name: "PodTopologyLabels",
    admit(attributes) {
      const { object } = attributes;
      const nodeName = nodeNameOf(attributes);
      if (object === undefined || nodeName === "") return;
      const node = lookup.get({ group: "", resource: "nodes" }, "", nodeName);
      for (const label of topologyLabels) {
        const value = node?.metadata.labels?.[label];
        if (value !== undefined) object.metadata.labels = { ...object.metadata.labels, [label]: value };
      }
    },
  };
}

/** Returns the node that a new pod names or a binding assigns, or "" for any other request. */
function nodeNameOf(attributes: AdmissionAttributes): string {
  const { operation, subresource, object } = attributes;
  if (operation !== "CREATE" || object === undefined) return "";
  const isPod = isResource(attributes, "", "pods");
  if (isPod && subresource === "") return (object as Pod).spec?.nodeName ?? "";
  if (!(isPod && subresource === "binding") && !isResource(attributes, "", "bindings")) return "";
  const { kind = "Node", name = "" } = (object as Binding).target;
  return kind === "Node" ? name : "";
}
