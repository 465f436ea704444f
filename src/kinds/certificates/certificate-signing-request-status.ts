import { formatTime } from "../../api/time.ts";
import type * as certificatesV1 from "../../api/types/certificates-v1.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateCertificateRequestStatus } from "./validation/certificate-signing-request-status.ts";

type SigningRequest = certificatesV1.CertificateSigningRequest;
type Condition = certificatesV1.CertificateSigningRequestCondition;

const plainStatusStrategy = statusStrategy(defaultStrategy);

/** `certificatesigningrequests/x/approval`: of the status, only conditions change. */
export const certificateApprovalStrategy: Strategy<SigningRequest> = {
  ...plainStatusStrategy,
  prepareForUpdate(request, old, nowMs) {
    plainStatusStrategy.prepareForUpdate(request, old, nowMs);
    const conditions = dated(conditionsOf(request), conditionsOf(old), formatTime(nowMs));
    const { conditions: _before, ...status } = old.status ?? {};
    request.status = conditions.length === 0 ? status : { ...status, conditions };
  },
  validateUpdate: (request, old) => validateCertificateRequestStatus(request, old, "approval"),
};

/** `certificatesigningrequests/x/status`: the certificate, and conditions other than the decision. */
export const certificateStatusStrategy: Strategy<SigningRequest> = {
  ...plainStatusStrategy,
  prepareForUpdate(request, old, nowMs) {
    plainStatusStrategy.prepareForUpdate(request, old, nowMs);
    const before = conditionsOf(old);
    const conditions = dated(withDecision(conditionsOf(request), before), before, formatTime(nowMs));
    if (conditions.length > 0) request.status = { ...request.status, conditions };
  },
  validateUpdate: (request, old) => validateCertificateRequestStatus(request, old, "status"),
};

/** A writer that repeats the decision repeats it as it was made, even with other times and texts. */
function withDecision(conditions: readonly Condition[], old: readonly Condition[]): Condition[] {
  return conditions.map((condition) => {
    const { type } = condition;
    if (type !== "Approved" && type !== "Denied") return condition;
    return old.find((before) => before.type === type) ?? condition;
  });
}

/** Fills in times that the writer left out: of the last update, and of the last change of the status. */
function dated(conditions: readonly Condition[], old: readonly Condition[], now: string): Condition[] {
  return conditions.map((condition) => {
    const before = old.find(({ type, status }) => type === condition.type && status === condition.status);
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? before?.lastTransitionTime ?? now,
    };
  });
}

function conditionsOf({ status }: SigningRequest): readonly Condition[] {
  return status?.conditions ?? [];
}
