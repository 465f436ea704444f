import type { JsonObject, JsonValue } from "../../json.ts";
import { labelSelectorText } from "../../label-selector.ts";
import { labelSelectorOf } from "../../label-selector-object.ts";
import type { Cells } from "./cells.ts";
import { numberIn, pairsText, structIn, structsIn, textIn } from "./reading.ts";

export function deploymentCells(deployment: JsonObject): Cells {
  const status = structIn(deployment, "status");
  const spec = structIn(deployment, "spec");
  return {
    Ready: `${numberIn(status, "readyReplicas")}/${numberIn(spec, "replicas")}`,
    "Up-to-date": numberIn(status, "updatedReplicas"),
    Available: numberIn(status, "availableReplicas"),
    ...templateCells(spec),
    Selector: selectorOf(spec["selector"]) ?? "<invalid>",
  };
}

export function statefulSetCells(statefulSet: JsonObject): Cells {
  const spec = structIn(statefulSet, "spec");
  const ready = numberIn(structIn(statefulSet, "status"), "readyReplicas");
  return { Ready: `${ready}/${numberIn(spec, "replicas")}`, ...templateCells(spec) };
}

export function replicaSetCells(replicaSet: JsonObject): Cells {
  return { ...replicaCells(replicaSet), Selector: selectorText(structIn(replicaSet, "spec")["selector"]) };
}

export function replicationControllerCells(controller: JsonObject): Cells {
  return { ...replicaCells(controller), Selector: pairsText(structIn(controller, "spec")["selector"]) };
}

export function daemonSetCells(daemonSet: JsonObject): Cells {
  const status = structIn(daemonSet, "status");
  const spec = structIn(daemonSet, "spec");
  return {
    Desired: numberIn(status, "desiredNumberScheduled"),
    Current: numberIn(status, "currentNumberScheduled"),
    Ready: numberIn(status, "numberReady"),
    "Up-to-date": numberIn(status, "updatedNumberScheduled"),
    Available: numberIn(status, "numberAvailable"),
    "Node Selector": pairsText(structIn(structIn(spec, "template"), "spec")["nodeSelector"]),
    ...templateCells(spec),
    Selector: selectorText(spec["selector"]),
  };
}

export function podTemplateCells(podTemplate: JsonObject): Cells {
  const labels = structIn(structIn(podTemplate, "template"), "metadata")["labels"];
  return { ...templateCells(podTemplate), "Pod Labels": pairsText(labels) };
}

export function controllerRevisionCells(revision: JsonObject): Cells {
  const owners = structsIn(structIn(revision, "metadata"), "ownerReferences");
  const owner = owners.find(({ controller }) => controller === true);
  return { Controller: owner === undefined ? "<none>" : ownerText(owner), Revision: numberIn(revision, "revision") };
}

/** Containers and images of the pods that an object with a `template` makes. */
export function templateCells(spec: JsonObject): Cells {
  const containers = structsIn(structIn(structIn(spec, "template"), "spec"), "containers");
  return {
    Containers: containers.map((container) => textIn(container, "name")).join(","),
    Images: containers.map((container) => textIn(container, "image")).join(","),
  };
}

/** `app=web,tier in (a,b)`; `<none>` for a selector without requirements. */
export function selectorText(selector: JsonValue | undefined): string {
  return (selectorOf(selector) ?? "<error>") || "<none>";
}

/** Undefined for a selector that means nothing. */
function selectorOf(selector: JsonValue | undefined): string | undefined {
  const found = labelSelectorOf(selector);
  return found === undefined ? undefined : labelSelectorText(found);
}

function replicaCells(object: JsonObject): Cells {
  const spec = structIn(object, "spec");
  const status = structIn(object, "status");
  return {
    Desired: numberIn(spec, "replicas"),
    Current: numberIn(status, "replicas"),
    Ready: numberIn(status, "readyReplicas"),
    ...templateCells(spec),
  };
}

/** `statefulset.apps/web`. */
function ownerText(owner: JsonObject): string {
  const apiVersion = textIn(owner, "apiVersion");
  const group = apiVersion.includes("/") ? `.${apiVersion.slice(0, apiVersion.indexOf("/"))}` : "";
  return `${(textIn(owner, "kind") + group).toLowerCase()}/${textIn(owner, "name")}`;
}
