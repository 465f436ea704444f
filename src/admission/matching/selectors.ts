import type { JsonValue } from "../../api/json.ts";
import { everyLabel, type LabelSelector, matchesLabels } from "../../api/label-selector.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { type StatusError, status } from "../../api/status.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import { namespaceOf } from "./matched-resource.ts";

const namespaces = { group: "", resource: "namespaces" };

/** Reads a selector of a configuration. A selector that is stored is valid, so one that cannot be read selects nothing. */
export function selectorOf(value: object | undefined): LabelSelector | undefined {
  return value === undefined ? everyLabel : labelSelectorOf(value as JsonValue);
}

/**
 * Reports whether the selector selects the namespace of a request. Requests for cluster-scoped objects always match; a
 * Namespace that is being written is matched by its new labels.
 * @param object the current object, which earlier plugins may have changed
 * @returns a StatusError if the namespace is missing: it counts only if the rest matches
 */
export function matchesNamespace(
  selector: LabelSelector | undefined,
  attributes: Pick<AdmissionAttributes, "info" | "namespace" | "subresource" | "operation" | "name">,
  object: KubeObject | undefined,
  lookup: ObjectLookup,
): boolean | StatusError {
  const { info, subresource, operation } = attributes;
  const namespace = namespaceOf(attributes);
  const isNamespace = info.resource === "namespaces";
  if (namespace === "" && !isNamespace) return true;
  if (selector === undefined) return false;
  if (selector.requirements.length === 0) return true;
  if (isNamespace && subresource === "" && (operation === "CREATE" || operation === "UPDATE")) {
    return matchesLabels(selector, object?.metadata.labels);
  }
  const found = lookup.get(namespaces, "", namespace);
  if (found === undefined) return status.notFound({ ...namespaces, name: namespace });
  return matchesLabels(selector, found.metadata.labels);
}

/** Reports whether the selector selects the new or the old object. Documents without metadata match the empty selector only. */
export function matchesObject(
  selector: LabelSelector | undefined,
  object: KubeObject | undefined,
  oldObject: KubeObject | undefined,
): boolean {
  if (selector === undefined) return false;
  if (selector.requirements.length === 0) return true;
  return [object, oldObject].some(
    (one) =>
      (one as Partial<KubeObject> | undefined)?.metadata !== undefined && matchesLabels(selector, one?.metadata.labels),
  );
}
