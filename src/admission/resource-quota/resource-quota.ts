import type { Clock } from "../../process/clock.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.ts";
import { isResource, refuse } from "../attributes.ts";
import type { QuotaAccountant } from "./accountant.ts";
import { quotaRequest } from "./check.ts";

/** Enforces the quotas of a namespace. It runs last, so that requests rejected by other plugins are not counted. */
export function resourceQuota({ quotas, clock }: { quotas: QuotaAccountant; clock: Clock }): AdmissionPlugin {
  return {
    name: "ResourceQuota",
    async validate(attributes) {
      const { namespace, info, object, oldObject, dryRun, onSettled } = attributes;
      if (!isCounted(attributes) || object === undefined) return;
      const answer = await quotas.charge(namespace, quotaRequest(info, object, oldObject, clock.nowMs()), dryRun);
      if (answer === undefined) return;
      if (typeof answer === "string") throw refuse(attributes, answer);
      onSettled((outcome) => answer.settle(outcome === "stored"));
    },
  };
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
