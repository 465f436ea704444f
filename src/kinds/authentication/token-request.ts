import { randomUUID } from "node:crypto";
import type { BoundObject } from "../../access/authentication/service-account/claims.ts";
import type { TokenIssuer } from "../../access/authentication/service-account/token-issuer.ts";
import { fieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import { formatTime } from "../../api/time.ts";
import type { BoundObjectReference, TokenRequest, TokenRequestSpec } from "../../api/types/authentication-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import type { Clock } from "../../process/clock.ts";
import type { Action } from "../../registry/action.ts";
import type { Registry } from "../../registry/registry.ts";

/** Lifetime that kubelets ask for when they mount a token. The token is valid for longer, so old clients keep working. */
const mountedExpirationSeconds = 3_607;
const extendedExpirationSeconds = 365 * 24 * 3_600;
const expirationSecondsMin = 600;
const expirationSecondsMax = 2 ** 32;
const expirationSecondsDefault = 3_600;
const tokenRequestKind = { group: "authentication.k8s.io", kind: "TokenRequest" };

export interface TokenRequestParts {
  readonly issuer: TokenIssuer;
  readonly apiAudiences: readonly string[];
  /** Seconds; 0 for no limit. */
  readonly maxExpirationSeconds: number;
  readonly extendsMounted: boolean;
  readonly serviceAccounts: Registry;
  readonly pods: Registry;
  readonly secrets: Registry;
  readonly nodes: Registry;
  readonly clock: Clock;
}

interface Binding {
  readonly pod?: BoundObject;
  readonly node?: BoundObject;
  readonly secret?: BoundObject;
}

/** `serviceaccounts/token`: signs a token for an account, bound to an object if one is named. */
export function tokenRequest(parts: TokenRequestParts): Action {
  return {
    keepsSystemFields: true,
    async run({ namespace, name, warn, annotate }, body) {
      refuseOtherName(body, namespace, name);
      const account = parts.serviceAccounts.current(namespace, name);
      if (account === undefined) throw status.notFound(parts.serviceAccounts.ref(name));
      const spec: Partial<TokenRequestSpec> = (body as TokenRequest).spec ?? {};
      const { uid = "" } = account.metadata;
      refuseOtherUid(body, name, uid);
      const seconds = expirationOf(spec, parts.maxExpirationSeconds, warn);
      const audiences = spec.audiences?.length ? spec.audiences : parts.apiAudiences;
      const binding = bindingOf(parts, spec.boundObjectRef, namespace, name);

      const issuedSeconds = Math.floor(parts.clock.nowMs() / 1_000);
      const extended = parts.extendsMounted && isMounted(spec, seconds, audiences, parts.apiAudiences);
      const id = randomUUID();
      const token = await parts.issuer.issue({
        namespace,
        serviceAccount: { name, uid },
        pod: binding.pod,
        node: binding.node,
        secret: binding.secret,
        audiences,
        id,
        issuedAt: issuedSeconds,
        notBefore: issuedSeconds,
        expires: issuedSeconds + (extended ? extendedExpirationSeconds : seconds),
        warnAfter: extended ? issuedSeconds + seconds : undefined,
      });
      annotate?.("authentication.kubernetes.io/issued-credential-id", `JTI=${id}`);
      return {
        ...body,
        metadata: { ...body.metadata, name, namespace, uid, creationTimestamp: formatTime(issuedSeconds * 1_000) },
        spec: { ...spec, audiences: [...audiences], expirationSeconds: seconds },
        status: { token, expirationTimestamp: formatTime((issuedSeconds + seconds) * 1_000) },
      };
    },
  };
}

/** @throws StatusError 422 */
function refuseOtherName({ metadata }: KubeObject, namespace: string, name: string): void {
  const refuse = (field: string, value: string, detail: string) =>
    status.invalid({ ...tokenRequestKind, name }, [fieldError.invalid(field, value, detail)]);
  const { name: askedName = "", namespace: askedNamespace = "" } = metadata;
  if (askedName !== "" && askedName !== name)
    throw refuse("metadata.name", askedName, "must match the service account name if specified");
  if (askedNamespace !== "" && askedNamespace !== namespace)
    throw refuse("metadata.namespace", askedNamespace, "must match the service account namespace if specified");
}

/** @throws StatusError 409 */
function refuseOtherUid({ metadata: { uid: asked = "" } }: KubeObject, name: string, uid: string): void {
  if (asked === "" || asked === uid) return;
  const text = `the UID in the token request (${asked}) does not match the UID of the service account (${uid})`;
  throw status.conflict({ group: tokenRequestKind.group, resource: tokenRequestKind.kind, name }, text);
}

/** @throws StatusError 422 */
function expirationOf(spec: Partial<TokenRequestSpec>, maxSeconds: number, warn: (text: string) => void): number {
  const asked = Number(spec.expirationSeconds ?? expirationSecondsDefault);
  const refuse = (detail: string) => {
    const error = fieldError.invalid("spec.expirationSeconds", asked, detail);
    return status.invalid({ ...tokenRequestKind, name: "" }, [error]);
  };
  if (asked < expirationSecondsMin) throw refuse("may not specify a duration less than 10 minutes");
  if (asked > expirationSecondsMax) throw refuse("may not specify a duration larger than 2^32 seconds");
  if (maxSeconds === 0 || asked <= maxSeconds) return asked;
  warn(`requested expiration of ${asked} seconds shortened to ${maxSeconds} seconds`);
  return maxSeconds;
}

function isMounted(
  spec: Partial<TokenRequestSpec>,
  seconds: number,
  audiences: readonly string[],
  apiAudiences: readonly string[],
): boolean {
  const forServer = audiences.length === apiAudiences.length && audiences.every((one) => apiAudiences.includes(one));
  return spec.boundObjectRef?.kind === "Pod" && seconds === mountedExpirationSeconds && forServer;
}

/** @throws StatusError 400, 404, 409 */
function bindingOf(
  parts: TokenRequestParts,
  ref: BoundObjectReference | null | undefined,
  namespace: string,
  account: string,
): Binding {
  if (ref === undefined || ref === null) return {};
  const { kind = "" } = ref;
  const { group, version } = looseGroupVersion(ref.apiVersion ?? "");
  if (group !== "" || !["Pod", "Secret", "Node"].includes(kind)) {
    throw status.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  if (kind === "Secret") return { secret: boundTo(named(parts.secrets, namespace, ref), ref) };
  if (kind === "Node") return { node: boundTo(named(parts.nodes, "", ref), ref) };
  const pod = named(parts.pods, namespace, ref);
  const { serviceAccountName = "", nodeName = "" } = (pod as Pod).spec ?? {};
  if (serviceAccountName !== account) {
    throw status.badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  }
  const node = nodeName === "" ? undefined : parts.nodes.current("", nodeName);
  return {
    pod: boundTo(pod, ref),
    ...(node === undefined ? {} : { node: { name: nodeName, uid: node.metadata.uid ?? "" } }),
  };
}

/** Accepts any version of the core group, and one that cannot be read. */
function looseGroupVersion(apiVersion: string): { group: string; version: string } {
  const parts = apiVersion.split("/");
  if (parts.length === 1) return { group: "", version: apiVersion };
  const [group = "", version = ""] = parts.length === 2 ? parts : [];
  return { group, version };
}

/** @throws StatusError 400, 404 */
function named(registry: Registry, namespace: string, { name = "" }: BoundObjectReference): KubeObject {
  if (name === "") throw status.badRequest("Name parameter required.");
  const [problem] = pathSegmentProblems(name);
  if (problem !== undefined) throw status.badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problem}`);
  const object = registry.current(namespace, name);
  if (object === undefined) throw status.notFound(registry.ref(name));
  return object;
}

/** @throws StatusError 409 */
function boundTo({ metadata }: KubeObject, { kind = "", name = "", uid = "" }: BoundObjectReference): BoundObject {
  const { uid: held = "" } = metadata;
  if (uid !== "" && uid !== held) {
    throw status.conflict(
      { group: "", resource: kind, name },
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  return { name, uid: held };
}
