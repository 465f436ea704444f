import type { KubeObject } from "../../api/object-meta.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";

/** Reports whether a status has a condition that is true. */
export function isConditionTrue(status: CustomResourceDefinition["status"], type: string): boolean {
  return status?.conditions?.some((one) => one.type === type && one.status === "True") ?? false;
}

/** Reports whether objects of a definition can exist. */
export function isEstablished(definition: KubeObject | undefined): boolean {
  return isConditionTrue((definition as CustomResourceDefinition | undefined)?.status, "Established");
}
