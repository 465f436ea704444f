import { cloneJson } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { PodTemplateSpec } from "../../api/types/core-v1.ts";

/** Returns the labels of a template; undefined if there are none. */
export function templateLabels(template: PodTemplateSpec | undefined): Record<string, string> | undefined {
  const labels = template?.metadata?.labels;
  return labels === undefined || Object.keys(labels).length === 0 ? undefined : labels;
}

/** Copies the labels of its template to an object without labels. */
export function labelAsTemplate({ metadata }: KubeObject, template: PodTemplateSpec | undefined): void {
  const labels = templateLabels(template);
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = cloneJson(labels);
}
