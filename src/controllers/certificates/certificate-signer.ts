import { X509Certificate } from "node:crypto";
import { type KeyPair, type SignedUsage, signRequest } from "../../access/certificates/authority.ts";
import { parseCertificateRequest } from "../../access/certificates/certificate-request.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { formatTime } from "../../api/time.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Store } from "../../storage/store.ts";
import { followObjects } from "../follow-objects.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { builtInSigners } from "./signers.ts";
import { conditionOf, signingRequestOf, withCondition, withStatus } from "./signing-request.ts";

const lifetimeSecondsMax = 365 * 24 * 3_600;
const lifetimeSecondsMin = 10 * 60;
/** Certificates with a shorter lifetime than this are not shortened by their backdating. */
const shortLifetimeSeconds = 8 * 3_600;
/** Time by which certificates are backdated, for clocks that are slightly slow. */
const backdatingSeconds = 5 * 60;

export interface CertificateSignerParts extends QueueSource {
  readonly requests: Registry;
  readonly requestStatus: Strategy;
  readonly store: Store;
  readonly clock: Clock;
  /** Returns the authority of clients. Called for each certificate, because the authority is renewed. */
  readonly authority: () => KeyPair;
  readonly onError: (error: unknown) => void;
}

/** Signs approved requests of the built-in signers. Fails requests that violate their signer's rules. */
export function startCertificateSigner(parts: CertificateSignerParts): Disposable {
  const { requests, store, clock, observeQueue, onError } = parts;
  const { keyPrefix } = requests.info;
  const running = new DisposableStack();
  const queue = running.use(
    new WorkQueue({
      name: "certificate",
      clock,
      observeQueue,
      onError,
      work: (key) => sign(parts, key.slice(keyPrefix.length)),
    }),
  );
  running.use(
    followObjects(store, keyPrefix, (key, type) => {
      if (type !== "DELETED") queue.add(key);
    }),
  );
  return running;
}

async function sign(parts: CertificateSignerParts, name: string): Promise<void> {
  const object = parts.requests.current("", name);
  if (object === undefined || !isWaiting(object)) return;
  const { signerName, usages = [], request, expirationSeconds } = signingRequestOf(object).spec;
  const rules = builtInSigners.get(signerName);
  if (rules === undefined) return;
  const parsed = parseCertificateRequest(Buffer.from(request ?? "", "base64").toString("latin1"));
  const problem = parsed === undefined ? "the request cannot be read" : rules(parsed, usages);
  const nowSeconds = Math.floor(parts.clock.nowMs() / 1_000);
  if (parsed === undefined || problem !== undefined) {
    const at = formatTime(nowSeconds * 1_000);
    const failure = { type: "Failed", reason: "SignerValidationFailure", message: problem ?? "", at };
    return update(parts, object, (old) => withCondition(old, failure));
  }
  const seconds = Math.max(lifetimeSecondsMin, Math.min(expirationSeconds ?? lifetimeSecondsMax, lifetimeSecondsMax));
  const cutSeconds = seconds < shortLifetimeSeconds ? 0 : backdatingSeconds;
  const authority = parts.authority();
  const endMs = Date.parse(new X509Certificate(authority.certificate).validTo);
  const certificate = signRequest(authority, {
    ...parsed,
    usages: new Set(usages as SignedUsage[]),
    notBeforeMs: (nowSeconds - backdatingSeconds) * 1_000,
    // A certificate is useless after its authority has expired.
    notAfterMs: Math.min((nowSeconds - cutSeconds + seconds) * 1_000, endMs),
  });
  return update(parts, object, (old) => withStatus(old, { certificate: Buffer.from(certificate).toString("base64") }));
}

function isWaiting(object: KubeObject): boolean {
  const request = signingRequestOf(object);
  const done = (request.status?.certificate ?? "") !== "" || conditionOf(request, "Failed") !== undefined;
  return !done && conditionOf(request, "Approved") !== undefined && conditionOf(request, "Denied") === undefined;
}

async function update(
  { requests, requestStatus }: CertificateSignerParts,
  { metadata: { name = "", uid } }: KubeObject,
  change: (request: KubeObject) => KubeObject,
): Promise<void> {
  const isSame = (old: KubeObject) => old.metadata.uid === uid && isWaiting(old);
  await requests.update("", name, (old) => (isSame(old) ? change(old) : old), controllerManagerContext, {
    strategy: requestStatus,
    subresource: "status",
    reapplies: true,
  });
}
