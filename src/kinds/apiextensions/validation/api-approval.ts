import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { parseRequestUrl, UrlError } from "../../../api/go-url.ts";
import type { KubeObject } from "../../../api/object-meta.ts";

const annotation = "api-approved.kubernetes.io";
const place = "https://github.com/kubernetes/enhancements/pull/1111";
const protectedDomains = ["k8s.io", "kubernetes.io"];

/** Checks that a definition in a group of the Kubernetes project names the review that approved it. */
export function validateApiApproval(definition: KubeObject, group: string, old?: KubeObject): FieldError[] {
  if (!protectedDomains.some((domain) => group === domain || group.endsWith(`.${domain}`))) return [];
  const approval = approvalOf(definition);
  const state = approvalState(approval);
  if (state === "approved" || state === "bypassed") return [];
  if (old !== undefined && state === approvalState(approvalOf(old))) return [];
  const field = `metadata.annotations[${annotation}]`;
  const start = `protected groups must have approval annotation "${annotation}"`;
  if (state === "missing") return [fieldError.required(field, `${start}, see ${place}`)];
  const detail = `${start} with either a URL or a reason starting with "unapproved", see ${place}`;
  return [fieldError.invalid(field, approval, detail)];
}

function approvalOf({ metadata }: KubeObject): string {
  return metadata.annotations?.[annotation] ?? "";
}

function approvalState(approval: string): "approved" | "bypassed" | "missing" | "invalid" {
  if (approval === "") return "missing";
  if (approval.startsWith("unapproved")) return "bypassed";
  try {
    const { scheme, host } = parseRequestUrl(approval);
    return scheme !== "" && host !== "" ? "approved" : "invalid";
  } catch (error) {
    if (error instanceof UrlError) return "invalid";
    throw error;
  }
}
