import { apiVersionOf } from "../../api/gvk.ts";
import { cloneJson, emptyJsonObject, isJsonObject, type JsonObject } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";
import type { KubeObject, ObjectMeta } from "../../api/object-meta.ts";
import { bodyInfoOf } from "../../api/scheme/body-info.ts";
import type { ResourceInfo, TableColumn } from "../../api/scheme/resource.ts";
import { status } from "../../api/status.ts";
import { entriesOfScale, entriesThroughScale, type ReplicasPaths } from "../../apply/scale-entries.ts";
import type { ObjectView } from "../../registry/object-view.ts";
import { scaleCells, scaleColumns } from "../autoscaling/scale.ts";
import type { ScalePaths } from "./definition.ts";
import { namesOf, numberAt, type PathValue, textAt } from "./scale-values.ts";

/** Upstream gives the name its format here, and the age its type. */
const columns = scaleColumns.map((column): TableColumn => {
  if (column.name === "Name") return { ...column, format: "name" };
  return column.name === "Age" ? { ...column, type: "date" } : column;
});

/** Stands for a number of replicas that the object does not have; no client can ask for it. */
const noReplicas = -(2 ** 31);

/**
 * Returns the Scale of a custom kind.
 * @param replicasPaths of all versions
 */
export function customScaleView(info: ResourceInfo, scale: ScalePaths, replicasPaths: ReplicasPaths): ObjectView {
  const subresource = info.subresources.get("scale");
  if (subresource === undefined) throw new Error(`${info.resource} have no scale`);
  const { converter: _converter, ...shown } = bodyInfoOf(info, subresource);
  const scaleOf = (object: KubeObject, replicas: number): KubeObject => ({
    kind: subresource.gvk.kind,
    apiVersion: apiVersionOf(subresource.gvk),
    metadata: identityOf(object.metadata),
    spec: replicas === 0 ? {} : { replicas },
    status: statusOf(object, scale),
  });
  return {
    info: { ...shown, columns, table: { cells: scaleCells } },
    show(object) {
      const replicas = found(numberAt(contentOf(object), scale.specReplicasPath));
      if (replicas === undefined) {
        throw status.internal(`the spec replicas field ${JSON.stringify(scale.specReplicasPath)} does not exist`);
      }
      return scaleOf(object, Number(replicas));
    },
    draft(object) {
      return scaleOf(object, Number(found(numberAt(contentOf(object), scale.specReplicasPath)) ?? noReplicas));
    },
    write: (object, document) => scaled(object, document, scale.specReplicasPath),
    entriesOf: (entries) => entriesOfScale(entries, replicasPaths),
    entriesWith: (entries, written) => entriesThroughScale(entries, written, replicasPaths, apiVersionOf(info)),
  };
}

/** @throws StatusError 500 when something else is there */
function found<T>(at: PathValue<T>): T | undefined {
  if ("problem" in at) throw status.internal(at.problem);
  return at.value;
}

function statusOf(object: KubeObject, { statusReplicasPath, labelSelectorPath }: ScalePaths): JsonObject {
  const replicas = found(numberAt(contentOf(object), statusReplicasPath)) ?? 0;
  const selector = labelSelectorPath === "" ? undefined : found(textAt(contentOf(object), labelSelectorPath));
  return { replicas: Number(replicas), ...(selector === undefined || selector === "" ? {} : { selector }) };
}

function identityOf({ name, namespace, uid, resourceVersion, creationTimestamp }: ObjectMeta): ObjectMeta {
  const identity = { name, namespace, uid, resourceVersion, creationTimestamp };
  return Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
}

function scaled(object: KubeObject, scale: KubeObject, path: string): KubeObject {
  const replicas = Number(objectOf(scale["spec"])["replicas"] ?? 0);
  if (replicas === noReplicas)
    throw status.badRequest(`the spec replicas field ${JSON.stringify(path)} cannot be empty`);
  const written = cloneJson(contentOf(object));
  setAt(written, namesOf(path), replicas);
  const { uid: stored = "", resourceVersion: current = "" } = object.metadata;
  const { uid = "", resourceVersion = "" } = scale.metadata;
  // The guards of the write are those of the Scale.
  const metadata = { ...object.metadata, uid: uid || stored, resourceVersion: resourceVersion || current };
  return { ...written, metadata } as unknown as KubeObject;
}

/** The object has no prototype, like those below it: a name such as `__proto__` is a name like any other. */
function setAt(object: JsonObject, names: readonly string[], value: number): void {
  let at = object;
  for (const name of names.slice(0, -1)) {
    const below = Object.hasOwn(at, name) ? at[name] : undefined;
    const next = isJsonObject(below) ? below : emptyJsonObject();
    at[name] = next;
    at = next;
  }
  at[names.at(-1) as string] = value;
}

function contentOf(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}
