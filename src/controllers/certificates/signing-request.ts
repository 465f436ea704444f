import type { KubeObject } from "../../api/object-meta.ts";
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
  CertificateSigningRequestStatus,
} from "../../api/types/certificates-v1.ts";

export function signingRequestOf(object: KubeObject): CertificateSigningRequest {
  return object as CertificateSigningRequest;
}

/** Returns the object with changed fields of its status. */
export function withStatus(object: KubeObject, fields: CertificateSigningRequestStatus): KubeObject {
  return { ...object, status: { ...signingRequestOf(object).status, ...fields } };
}

/** Returns the object with another condition whose status is True. */
export function withCondition(
  object: KubeObject,
  { type, reason, message, at }: { type: string; reason: string; message: string; at: string },
): KubeObject {
  const condition = { type, status: "True", reason, message, lastUpdateTime: at, lastTransitionTime: at };
  return withStatus(object, { conditions: [...(signingRequestOf(object).status?.conditions ?? []), condition] });
}

export function conditionOf(
  { status }: CertificateSigningRequest,
  type: string,
): CertificateSigningRequestCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
