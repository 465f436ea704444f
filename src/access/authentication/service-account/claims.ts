import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { serviceAccountUserName } from "../../../request/service-account-user.ts";

/** An object to which a token is bound. The token becomes invalid with it. */
export interface BoundObject {
  readonly name: string;
  readonly uid: string;
}

/** The claims of one of our tokens, in either form. */
export interface ServiceAccountClaims {
  readonly namespace: string;
  readonly serviceAccount: BoundObject;
  readonly pod: BoundObject | undefined;
  readonly node: BoundObject | undefined;
  readonly secret: BoundObject | undefined;
  /** Audiences; undefined for a Secret's token, which is for the API server and never expires. */
  readonly audiences: readonly string[] | undefined;
  readonly id: string;
  /** Seconds since the epoch; 0 and Infinity if unlimited. */
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly expires: number;
  /** Time after which the token should have been renewed. Later uses get a warning in the audit log. */
  readonly warnAfter: number | undefined;
}

export const legacyIssuer = "kubernetes/serviceaccount";
const legacyPrefix = "kubernetes.io/serviceaccount/";
const secondsMax = 2 ** 40;

/** Parses the claims of a JWT payload. Returns undefined unless they are those of a service account token. */
export function parseClaims(payload: JsonObject): ServiceAccountClaims | undefined {
  return payload["iss"] === legacyIssuer ? legacyClaims(payload) : boundClaims(payload);
}

function boundClaims(payload: JsonObject): ServiceAccountClaims | undefined {
  const own = payload["kubernetes.io"];
  const { sub, aud, exp, nbf, iat, jti } = payload;
  if (!isJsonObject(own) || !isSeconds(exp)) return undefined;
  if (nbf !== undefined && !isSeconds(nbf)) return undefined;
  if (iat !== undefined && !isSeconds(iat)) return undefined;
  const audiences = typeof aud === "string" ? [aud] : aud;
  if (!Array.isArray(audiences) || audiences.length === 0 || !audiences.every(isText)) return undefined;
  const serviceAccount = boundObject(own["serviceaccount"]);
  const { namespace } = own;
  if (serviceAccount === undefined || !isText(namespace)) return undefined;
  if (sub !== serviceAccountUserName(namespace, serviceAccount.name)) return undefined;
  const bound = { pod: boundObject(own["pod"]), node: boundObject(own["node"]), secret: boundObject(own["secret"]) };
  for (const [name, object] of Object.entries(bound))
    if (own[name] !== undefined && object === undefined) return undefined;
  const warnAfter = own["warnafter"];
  return {
    namespace,
    serviceAccount,
    ...bound,
    audiences: audiences as string[],
    id: isText(jti) ? jti : "",
    issuedAt: iat ?? 0,
    notBefore: nbf ?? 0,
    expires: exp,
    warnAfter: isSeconds(warnAfter) ? warnAfter : undefined,
  };
}

/** Parses the claims of a Secret's token, which is valid as long as the Secret exists. */
function legacyClaims(payload: JsonObject): ServiceAccountClaims | undefined {
  const of = (name: string) => payload[legacyPrefix + name];
  const [namespace, secret, name, uid] = [
    of("namespace"),
    of("secret.name"),
    of("service-account.name"),
    of("service-account.uid"),
  ];
  if (!isText(namespace) || !isText(secret) || !isText(name) || !isText(uid)) return undefined;
  if (payload["sub"] !== serviceAccountUserName(namespace, name)) return undefined;
  return {
    namespace,
    serviceAccount: { name, uid },
    pod: undefined,
    node: undefined,
    secret: { name: secret, uid: "" },
    audiences: undefined,
    id: "",
    issuedAt: 0,
    notBefore: 0,
    expires: Number.POSITIVE_INFINITY,
    warnAfter: undefined,
  };
}

/** Returns the payload for the token of a Secret. */
export function legacyPayload(namespace: string, secret: string, serviceAccount: BoundObject): JsonObject {
  return {
    iss: legacyIssuer,
    sub: serviceAccountUserName(namespace, serviceAccount.name),
    [`${legacyPrefix}namespace`]: namespace,
    [`${legacyPrefix}secret.name`]: secret,
    [`${legacyPrefix}service-account.name`]: serviceAccount.name,
    [`${legacyPrefix}service-account.uid`]: serviceAccount.uid,
  };
}

/** Returns the payload of a token for a TokenRequest. */
export function boundPayload(
  issuer: string,
  claims: ServiceAccountClaims & { readonly audiences: readonly string[] },
): JsonObject {
  const { namespace, serviceAccount, pod, node, secret, warnAfter } = claims;
  const bound: [string, BoundObject | undefined][] = [
    ["serviceaccount", serviceAccount],
    ["pod", pod],
    ["node", node],
    ["secret", secret],
  ];
  const objects = bound.flatMap(([name, object]) =>
    object === undefined ? [] : [[name, { name: object.name, uid: object.uid }] as const],
  );
  return {
    aud: [...claims.audiences],
    exp: claims.expires,
    iat: claims.issuedAt,
    iss: issuer,
    jti: claims.id,
    "kubernetes.io": {
      namespace,
      ...Object.fromEntries(objects),
      ...(warnAfter === undefined ? {} : { warnafter: warnAfter }),
    },
    nbf: claims.notBefore,
    sub: serviceAccountUserName(namespace, serviceAccount.name),
  };
}

function boundObject(value: JsonValue | undefined): BoundObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, uid } = value;
  return isText(name) && isText(uid) ? { name, uid } : undefined;
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}

/** Reports whether the value is a valid time in seconds. Texts, 1e400 and fractions are not. */
function isSeconds(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= secondsMax;
}
