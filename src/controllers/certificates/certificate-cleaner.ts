import { X509Certificate } from "node:crypto";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { removeObject } from "../../registry/remove-object.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import { conditionOf, signingRequestOf } from "./signing-request.ts";

const intervalMs = 60 * 60_000;
const hourMs = 60 * 60_000;
/** Time that a request is kept after its last change. */
const keptMs = { pending: 24 * hourMs, unissued: 24 * hourMs, issued: hourMs, denied: hourMs, failed: hourMs } as const;

export interface CertificateCleanerParts {
  readonly requests: Registry;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Removes requests an hour after they were settled, and pending ones after a day. */
export function startCertificateCleaner(parts: CertificateCleanerParts): Disposable {
  const clean = () => void cleanCertificateRequests(parts).catch(parts.onError);
  clean();
  return parts.clock.every(intervalMs, clean);
}

/** Checks all requests once. */
export async function cleanCertificateRequests({ requests, clock }: CertificateCleanerParts): Promise<void> {
  const { keyPrefix } = requests.info;
  for (const { key } of requests.cacher.entries()) {
    const name = key.slice(keyPrefix.length);
    const object = requests.current("", name);
    if (object === undefined) continue;
    const request = signingRequestOf(object);
    if (!isOver(request, clock.nowMs())) continue;
    await removeObject(requests, object, controllerManagerContext);
  }
}

/** Reports whether a request was settled or ignored long enough ago to be removed. */
export function isOver(request: CertificateSigningRequest, nowMs: number): boolean {
  const isOlder = (time: string | null | undefined, ms: number) =>
    typeof time === "string" && nowMs - Date.parse(time) > ms;
  const [approved, denied, failed] = ["Approved", "Denied", "Failed"].map((type) => conditionOf(request, type));
  const { certificate = "", conditions = [] } = request.status ?? {};
  const isIssued = certificate !== "";
  return (
    (conditions.length === 0 && isOlder(request.metadata.creationTimestamp, keptMs.pending)) ||
    isOlder(denied?.lastUpdateTime, keptMs.denied) ||
    isOlder(failed?.lastUpdateTime, keptMs.failed) ||
    isOlder(approved?.lastUpdateTime, isIssued ? keptMs.issued : keptMs.unissued) ||
    (approved !== undefined && isIssued && hasExpired(certificate, nowMs))
  );
}

function hasExpired(certificate: string, nowMs: number): boolean {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, "base64")).validTo) < nowMs;
  } catch {
    return false;
  }
}
