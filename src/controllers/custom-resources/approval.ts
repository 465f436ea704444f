import type { KubeObject } from "../../api/object-meta.ts";
import type { Condition } from "./conditions.ts";

const annotation = "api-approved.kubernetes.io";
const protectedGroups = ["k8s.io", "kubernetes.io"];
const rule = `protected groups must have approval annotation "${annotation}"`;
const place = "https://github.com/kubernetes/enhancements/pull/1111";

/** Returns the condition about the approval of a group that is reserved for Kubernetes; undefined for any other group. */
export function approvalCondition(group: string, { metadata }: KubeObject): Condition | undefined {
  if (!protectedGroups.some((name) => group === name || group.endsWith(`.${name}`))) return undefined;
  const approval = metadata.annotations?.[annotation] ?? "";
  const made = (status: Condition["status"], reason: string, message: string): Condition => ({
    type: "KubernetesAPIApprovalPolicyConformant",
    status,
    reason,
    message,
  });
  if (approval === "") return made("False", "MissingAnnotation", `${rule}, see ${place}`);
  if (approval.startsWith("unapproved")) {
    return made("False", "UnapprovedAnnotation", `not approved: ${JSON.stringify(approval)}`);
  }
  if (isUrl(approval)) return made("True", "ApprovedAnnotation", `approved in ${approval}`);
  const choice = `with either a URL or a reason starting with "unapproved"`;
  return made("False", "InvalidAnnotation", `${rule} ${choice}, see ${place}`);
}

function isUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).host !== "";
}
