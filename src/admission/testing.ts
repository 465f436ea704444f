import type { GroupResource } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import { everyLabel, matchesLabels } from "../api/label-selector.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { StatusError } from "../api/status.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../registry/admission.ts";
import { onlyForm } from "../registry/document-forms.ts";
import type { ObjectLookup } from "../registry/object-lookup.ts";
import { Reinvocation } from "../registry/reinvocation.ts";

/** A resource in tests: `/pods`, `apps/deployments`. */
export type ResourceText = `${string}/${string}`;

/** Returns a lookup over objects by resource. */
export function objects(byResource: Readonly<Record<ResourceText, readonly object[]>>): ObjectLookup {
  const of = ({ group, resource }: GroupResource) => (byResource[`${group}/${resource}`] ?? []) as KubeObject[];
  const isIn = (namespace: string) => (object: KubeObject) => (object.metadata.namespace ?? "") === namespace;
  return {
    get: (resource, namespace, name) =>
      of(resource).find((object) => object.metadata.name === name && isIn(namespace)(object)),
    entry: () => undefined,
    list: (resource, namespace, labels = everyLabel) =>
      of(resource)
        .filter(isIn(namespace))
        .filter(({ metadata }) => matchesLabels(labels, metadata.labels)),
    scan: (resource, namespace) =>
      of(resource)
        .filter(isIn(namespace))
        .map((object) => ({ identity: object, read: () => object })),
  };
}

/** A request as a plugin sees it, with the warnings and annotations it causes. */
export interface TestAttributes extends AdmissionAttributes {
  readonly warnings: string[];
  readonly annotations: Map<string, string>;
}

/** Returns the creation of a pod `p` in the namespace `ns`, unless changed. */
export function attributes(
  resource: ResourceText,
  parts: Partial<Omit<AdmissionAttributes, "object" | "oldObject">> & { object?: object; oldObject?: object },
): TestAttributes {
  const [group = "", plural = ""] = resource.split("/");
  const warnings: string[] = [];
  const annotations = new Map<string, string>();
  const object = parts.object as KubeObject | undefined;
  const info = { group, version: "v1", resource: plural } as ResourceInfo;
  return {
    operation: "CREATE",
    info,
    requested: info,
    kind: info,
    forms: onlyForm,
    options: () => undefined,
    reinvocation: new Reinvocation(),
    subresource: "",
    namespace: "ns",
    user: { name: "u", uid: "", groups: [], extra: new Map() },
    dryRun: false,
    deadlineMs: undefined,
    signal: () => undefined,
    isAbandoned: () => false,
    warn: (text) => warnings.push(text),
    annotate: (key, value) => annotations.set(key, value),
    annotateBody: (key, value) => annotations.set(key, value()),
    onSettled() {},
    dependsOn() {},
    warnings,
    annotations,
    ...parts,
    name: parts.name ?? object?.metadata.name ?? "",
    object,
    oldObject: parts.oldObject as KubeObject | undefined,
  };
}

/** Runs both halves of a plugin. @returns the message of its rejection, or undefined */
export async function verdict(plugin: AdmissionPlugin, request: AdmissionAttributes): Promise<string | undefined> {
  try {
    await plugin.admit?.(request);
    await plugin.validate?.(request);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.message;
    throw error;
  }
}

/** Returns a pod `p` in `ns` with one container `c`, unless changed. */
export function pod(spec: object = {}, metadata: object = {}): KubeObject {
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: "p", namespace: "ns", ...metadata },
    spec: { containers: [{ name: "c", image: "i" }], ...spec } as JsonObject,
  };
}
