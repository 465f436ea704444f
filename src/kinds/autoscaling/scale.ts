import type { Cells } from "../../api/codec/table/table-rules.ts";
import { fieldError } from "../../api/field-error.ts";
import { apiVersionOf, type GroupVersionKind } from "../../api/gvk.ts";
import { isJsonObject, type JsonValue } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import { labelSelectorText } from "../../api/label-selector.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import type { KubeObject, ObjectMeta } from "../../api/object-meta.ts";
import { bodyInfoOf } from "../../api/scheme/body-info.ts";
import type { ResourceInfo, TableColumn } from "../../api/scheme/resource.ts";
import { status } from "../../api/status.ts";
import type { Scale } from "../../api/types/autoscaling-v1.ts";
import { dnsSubdomainProblems } from "../../api/validation/names.ts";
import { validateObjectMeta } from "../../api/validation/object-meta.ts";
import { entriesOfScale, entriesThroughScale, type ReplicasPaths } from "../../apply/scale-entries.ts";
import type { ObjectView } from "../../registry/object-view.ts";

/** The `scale` subresource of a workload: its number of replicas, in one form for all kinds. */
export function scaleViewOf(info: ResourceInfo): ObjectView {
  const subresource = info.subresources.get("scale");
  if (subresource === undefined) throw new Error(`${info.resource} have no scale`);
  return {
    info: { ...bodyInfoOf(info, subresource), columns: scaleColumns, table: { cells: scaleCells } },
    show: (object) => scaleOf(object, subresource.gvk),
    write: (object, scale) => scaled(object, scale),
    entriesOf: (entries) => entriesOfScale(entries, replicasPaths),
    entriesWith: (entries, written) => entriesThroughScale(entries, written, replicasPaths, apiVersionOf(info)),
  };
}

const replicasPaths: ReplicasPaths = new Map(
  ["v1", "apps/v1", "apps/v1beta1", "apps/v1beta2", "extensions/v1beta1"].map((version) => [
    version,
    ["spec", "replicas"],
  ]),
);

export const scaleColumns: readonly TableColumn[] = [
  { name: "Name", type: "string", format: "", description: "Name of the object that is scaled.", priority: 0 },
  { name: "Desired", type: "integer", format: "", description: "Number of replicas asked for.", priority: 0 },
  { name: "Available", type: "integer", format: "", description: "Number of replicas there are.", priority: 0 },
  { name: "Age", type: "string", format: "", description: "Time since the object was created.", priority: 0 },
];

function scaleOf(object: KubeObject, gvk: GroupVersionKind): KubeObject {
  const spec = objectOf(object["spec"]);
  const selector = selectorText(object.kind, spec["selector"]);
  const replicas = integer(spec["replicas"]);
  return {
    kind: gvk.kind,
    apiVersion: apiVersionOf(gvk),
    metadata: identityOf(object.metadata),
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: integer(objectOf(object["status"])["replicas"]),
      ...(selector === "" ? {} : { selector }),
    },
  };
}

/** The part of the metadata that a Scale shows. */
function identityOf(metadata: ObjectMeta): ObjectMeta {
  const identity: ObjectMeta = {};
  for (const name of ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] as const) {
    const value = metadata[name];
    if (value !== undefined) identity[name] = value;
  }
  return identity;
}

function scaled(object: KubeObject, scale: Scale): KubeObject {
  const { name = "", uid = "" } = object.metadata;
  const { uid: given = "", resourceVersion = "" } = scale.metadata;
  const replicas = scale.spec?.replicas ?? 0;
  const errors = validateObjectMeta(scale.metadata, {
    validateName: dnsSubdomainProblems,
    namespaced: true,
    qualifiesFinalizers: true,
  });
  if (replicas < 0) {
    errors.push(fieldError.invalid("spec.replicas", replicas, "must be greater than or equal to 0"));
  }
  if (errors.length > 0) throw status.invalid({ group: "autoscaling", kind: scale.kind, name }, errors);
  // The guards of the write are those of the Scale.
  const metadata = { ...object.metadata, uid: given === "" ? uid : given, resourceVersion };
  return { ...object, metadata, spec: { ...objectOf(object["spec"]), replicas } };
}

/** ReplicationControllers select by equality alone; a selector that is not set selects nothing. */
function selectorText(kind: string, selector: JsonValue | undefined): string {
  if (!isJsonObject(selector)) return "";
  const found = labelSelectorOf(kind === "ReplicationController" ? { matchLabels: selector } : selector);
  return found === undefined ? "" : labelSelectorText(found);
}

function integer(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

export function scaleCells({ spec = {}, status: state }: Scale): Cells {
  return { Desired: spec.replicas ?? 0, Available: state?.replicas ?? 0 };
}
