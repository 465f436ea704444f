import { formatTime } from "../../api/time.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCertificateRequestStatus } from "./validation/certificate-signing-request-status.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { objectsOf } from "../../api/validation/fields.ts";

const plainStatusStrategy = statusStrategy(defaultStrategy);

/** `certificatesigningrequests/x/approval`: only conditions change. */
export const certificateApprovalStrategy: Strategy = {
  ...plainStatusStrategy,
  prepareForUpdate(request, old, nowMs) {
    plainStatusStrategy.prepareForUpdate(request, old, nowMs);
    const conditions = dated(conditionsOf(request), conditionsOf(old), formatTime(nowMs));
    const { conditions: _before, ...status } = fieldsOf(old["status"]);
    const { resourceVersion, managedFields } = request.metadata;
    request.metadata = { ...old.metadata, ...(resourceVersion && { resourceVersion }) };
    if (managedFields === undefined) delete request.metadata.managedFields;
    else request.metadata.managedFields = managedFields;
    request["status"] = conditions.length === 0 ? status : { ...status, conditions };
  },
  validateUpdate: (request, old) => validateCertificateRequestStatus(request, old, "approval"),
};

/** `certificatesigningrequests/x/status`: the certificate, and conditions other than the decision. */
export const certificateStatusStrategy: Strategy = {
  ...plainStatusStrategy,
  prepareForUpdate(request, old, nowMs) {
    plainStatusStrategy.prepareForUpdate(request, old, nowMs);
    const before = conditionsOf(old);
    const conditions = dated(withDecision(conditionsOf(request), before), before, formatTime(nowMs));
    if (conditions.length > 0) request["status"] = { ...fieldsOf(request["status"]), conditions };
  },
  validateUpdate: (request, old) => validateCertificateRequestStatus(request, old, "status"),
};

/** A writer that repeats the decision repeats it as it was made, whatever it has made of its times and texts. */
function withDecision(conditions: readonly JsonObject[], old: readonly JsonObject[]): JsonObject[] {
  return conditions.map((condition) => {
    const { type } = condition;
    if (type !== "Approved" && type !== "Denied") return condition;
    return old.find((before) => before["type"] === type) ?? condition;
  });
}

/** Times that the writer has left to us: of the last update, and of the last change of the status. */
function dated(conditions: readonly JsonObject[], old: readonly JsonObject[], now: string): JsonObject[] {
  return conditions.map((condition) => {
    const before = old.find(({ type, status }) => type === condition["type"] && status === condition["status"]);
    return {
      ...condition,
      lastUpdateTime: condition["lastUpdateTime"] ?? now,
      lastTransitionTime: condition["lastTransitionTime"] ?? before?.["lastTransitionTime"] ?? now,
    };
  });
}

function conditionsOf(request: KubeObject): JsonObject[] {
  return objectsOf(fieldsOf(request["status"])["conditions"]);
}
