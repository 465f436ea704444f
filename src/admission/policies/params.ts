import { type GroupVersionKind, parseApiVersion } from "../../api/gvk.ts";
import type { JsonValue } from "../../api/json.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { type ResourceInfo, storedInfo } from "../../api/scheme/resource.ts";
import type { ParamKind, ParamRef } from "../../api/types/admissionregistration-v1.ts";
import type { Eventual } from "../../process/eventual.ts";
import type { Catalog } from "../../registry/catalog.ts";
import { storedForms } from "../../registry/document-forms.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";

/** Explains why a policy or binding cannot be used for a request. The policy's failurePolicy decides what follows. */
export class ConfigurationProblem extends Error {
  override readonly name = "ConfigurationProblem";
}

export interface ParamParts {
  readonly lookup: ObjectLookup;
  readonly catalog: Pick<Catalog, "findKind">;
}

/**
 * Returns the resource of a policy's parameters.
 * @throws ConfigurationProblem for a kind that is not served now
 */
export function paramResource({ apiVersion = "", kind = "" }: ParamKind, { catalog }: ParamParts): ResourceInfo {
  const gvk = paramGvk(apiVersion, kind);
  const info = catalog.findKind(gvk);
  if (info !== undefined) return info;
  const { group, version } = gvk;
  throw new ConfigurationProblem(
    `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`,
  );
}

function paramGvk(apiVersion: string, kind: string): GroupVersionKind {
  return { ...(parseApiVersion(apiVersion) ?? { group: "", version: apiVersion }), kind };
}

/**
 * Returns the parameters that a binding names for a request, each of which is evaluated by itself.
 * @param namespace that of the request
 * @throws ConfigurationProblem
 */
export function collectParams(
  info: ResourceInfo,
  ref: ParamRef,
  namespace: string,
  parts: ParamParts,
): Eventual<readonly KubeObject[]> {
  if (info.namespaced && !ref.namespace && namespace === "") {
    throw new ConfigurationProblem(
      "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
    );
  }
  if (!info.namespaced && ref.namespace) {
    throw new ConfigurationProblem("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const found = findParams(info, ref, info.namespaced ? ref.namespace || namespace : "", parts);
  if (found.length === 0 && ref.parameterNotFoundAction === "Deny") {
    throw new ConfigurationProblem("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  const shown = found.map((param) => storedForms.show(param, info));
  return shown.some((param) => param instanceof Promise) ? Promise.all(shown) : (shown as KubeObject[]);
}

/**
 * Finds the parameters of a binding. A selector is compared with the labels of all objects of the kind in one
 * namespace. Labels are indexed with the entries in memory, so 10,000 objects take about a millisecond, and only
 * selected objects are decoded.
 */
function findParams(
  info: ResourceInfo,
  ref: ParamRef,
  namespace: string,
  { lookup }: ParamParts,
): readonly KubeObject[] {
  const { group, resource } = storedInfo(info);
  if (ref.name) {
    const param = lookup.get({ group, resource }, namespace, ref.name);
    return param === undefined ? [] : [param];
  }
  const selector = labelSelectorOf(ref.selector as JsonValue | undefined);
  if (selector === undefined) return [];
  return lookup.list({ group, resource }, namespace, selector);
}
