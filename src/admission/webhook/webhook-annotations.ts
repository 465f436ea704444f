import { stringifyJson } from "../../api/codec/json.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import type { AdmissionWebhook } from "./webhook-configuration.ts";

/** A call of a webhook, as annotations number it. */
export interface AnnotatedCall {
  readonly webhook: AdmissionWebhook;
  readonly round: number;
  /** Place of a mutating webhook in all configurations, or of a validating one among those that are called. */
  readonly index: number;
}

/** Notes for the audit whether a webhook changed the object. */
export function annotateMutation(attributes: AdmissionAttributes, call: AnnotatedCall, mutated: boolean): void {
  attributes.annotate(`mutation.webhook.admission.k8s.io/${placeOf(call)}`, textOf(call, { mutated }));
}

/** Notes the patch itself where the audit records the bodies of requests. */
export function annotatePatch(attributes: AdmissionAttributes, call: AnnotatedCall, patch: readonly JsonValue[]): void {
  const value = () => textOf(call, { patch: [...patch], patchType: "JSONPatch" });
  attributes.annotateBody(`patch.webhook.admission.k8s.io/${placeOf(call)}`, value);
}

export function annotateFailedOpen(
  attributes: AdmissionAttributes,
  call: AnnotatedCall,
  type: "mutating" | "validating",
): void {
  const prefix = type === "mutating" ? "failed-open.mutation.webhook" : "failed-open.validating.webhook";
  attributes.annotate(`${prefix}.admission.k8s.io/${placeOf(call)}`, call.webhook.name);
}

function placeOf({ round, index }: AnnotatedCall): string {
  return `round_${round}_index_${index}`;
}

function textOf({ webhook }: AnnotatedCall, more: JsonObject): string {
  return stringifyJson({ configuration: webhook.configuration, webhook: webhook.name, ...more });
}
