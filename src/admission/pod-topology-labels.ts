import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import { isResource } from "./attributes.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import type { Pod } from "./pod.ts";

const topologyLabels = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

/** A pod that gets a node gets the node's zone and region, so that it can tell where it runs. */
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

/** The node that a new pod names, or that a binding gives to one; "" for any other request. */
function nodeNameOf(attributes: AdmissionAttributes): string {
  const { operation, subresource, object } = attributes;
  if (operation !== "CREATE" || object === undefined) return "";
  const isPod = isResource(attributes, "", "pods");
  if (isPod && subresource === "") return (object as Pod).spec?.nodeName ?? "";
  if (!(isPod && subresource === "binding") && !isResource(attributes, "", "bindings")) return "";
  const { kind = "Node", name = "" } = (object["target"] ?? {}) as { kind?: string; name?: string };
  return kind === "Node" ? name : "";
}
