import type { JsonObject } from "../../api/json.ts";
import type { KubeObject, ObjectMeta } from "../../api/object-meta.ts";

export interface SigningRequestCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string;
}

/** A CertificateSigningRequest as the controllers see it. */
export interface SigningRequest {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    /** PEM of the request, in base64. */
    readonly request?: string;
    readonly signerName?: string;
    readonly usages?: readonly string[];
    readonly expirationSeconds?: number;
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly status?: {
    readonly conditions?: readonly SigningRequestCondition[];
    /** PEM in base64. */
    readonly certificate?: string;
  };
}

export function signingRequestOf(object: KubeObject): SigningRequest {
  return object as unknown as SigningRequest;
}

/** Returns the object with changed fields of its status. */
export function withStatus(object: KubeObject, fields: JsonObject): KubeObject {
  return { ...object, status: { ...(object["status"] as JsonObject | undefined), ...fields } };
}

/** Returns the object with another condition that is true. */
export function withCondition(
  object: KubeObject,
  { type, reason, message, at }: { type: string; reason: string; message: string; at: string },
): KubeObject {
  const condition = { type, status: "True", reason, message, lastUpdateTime: at, lastTransitionTime: at };
  const conditions = signingRequestOf(object).status?.conditions ?? [];
  return withStatus(object, { conditions: [...conditions, condition] as unknown as JsonObject[] });
}

export function conditionOf(request: SigningRequest, type: string): SigningRequestCondition | undefined {
  return request.status?.conditions?.find((condition) => condition.type === type);
}
