import type { Clock } from "../../process/clock.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.ts";
import { isResource, refuse } from "../attributes.ts";
import type { Charge, QuotaAccountant } from "./accountant.ts";
import { quotaRequest } from "./check.ts";

/** Enforces the quotas of a namespace. It runs last, so that requests rejected by other plugins are not counted. */
export function resourceQuota({ quotas, clock }: { quotas: QuotaAccountant; clock: Clock }): AdmissionPlugin {
  return {
    name: "ResourceQuota",
    validate(attributes) {
      const { namespace, info, object, oldObject, dryRun } = attributes;
      if (object === undefined || !isCounted(attributes) || !quotas.limits(namespace)) return;
      const request = quotaRequest(info, object, oldObject, clock.nowMs());
      return quotas.charge(namespace, request, dryRun)?.then((answer) => settleLater(attributes, answer));
    },
  };
}

/** @param answer a charge, or the reason for a rejection */
function settleLater(attributes: AdmissionAttributes, answer: Charge | string): void {
  if (typeof answer === "string") throw refuse(attributes, answer);
  attributes.onSettled((outcome) => answer.settle(outcome === "stored"));
}

/**
 * Reports whether the request may increase usage. Updates count for ports and types of Services, sizes of claims and of
 * running pods.
 */
function isCounted(attributes: AdmissionAttributes): boolean {
  const { operation, subresource, namespace } = attributes;
  if (namespace === "" || operation === "DELETE" || isResource(attributes, "", "namespaces")) return false;
  if (subresource !== "")
    return operation === "UPDATE" && subresource === "resize" && isResource(attributes, "", "pods");
  if (operation === "CREATE") return true;
  return isResource(attributes, "", "services") || isResource(attributes, "", "persistentvolumeclaims");
}
