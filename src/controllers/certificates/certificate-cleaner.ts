import { X509Certificate } from "node:crypto";
import type { CertificateSigningRequest } from "../../api/types/certificates-v1.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registry } from "../../registry/registry.ts";
import { removeObject } from "../../registry/remove-object.ts";
import { controllerManagerContext } from "../../registry/server-context.ts";
import type { Store } from "../../storage/store.ts";
import { conditionOf, signingRequestOf } from "./signing-request.ts";

const intervalMs = 60 * 60_000;
const hourMs = 60 * 60_000;
/** Time that a request is kept after its last change. */
const keptMs = { pending: 24 * hourMs, approved: hourMs, denied: hourMs, failed: hourMs } as const;

export interface CertificateCleanerParts {
  readonly requests: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Removes requests an hour after they were settled, and pending ones after a day. */
export function startCertificateCleaner(parts: CertificateCleanerParts): Disposable {
  return parts.clock.every(intervalMs, () => void cleanCertificateRequests(parts).catch(parts.onError));
}

/** Checks all requests once. */
export async function cleanCertificateRequests({ requests, store, clock }: CertificateCleanerParts): Promise<void> {
  const { keyPrefix } = requests.info;
  for (const { key } of store.scan(keyPrefix)) {
    const name = key.slice(keyPrefix.length);
    const object = requests.current("", name);
    if (object === undefined) continue;
    const request = signingRequestOf(object);
    if (!isOver(request, clock.nowMs())) continue;
    await removeObject(requests, object, controllerManagerContext);
  }
}

function isOver(request: CertificateSigningRequest, nowMs: number): boolean {
  const since = (time: string | null | undefined) => (typeof time === "string" ? nowMs - Date.parse(time) : 0);
  const [approved, denied, failed] = ["Approved", "Denied", "Failed"].map((type) => conditionOf(request, type));
  const certificate = request.status?.certificate ?? "";
  if (approved !== undefined && certificate !== "" && hasExpired(certificate, nowMs)) return true;
  if (denied !== undefined) return since(denied.lastUpdateTime) > keptMs.denied;
  if (failed !== undefined) return since(failed.lastUpdateTime) > keptMs.failed;
  if (approved === undefined) return since(request.metadata.creationTimestamp) > keptMs.pending;
  return certificate !== "" && since(approved.lastUpdateTime) > keptMs.approved;
}

function hasExpired(certificate: string, nowMs: number): boolean {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, "base64")).validTo) < nowMs;
  } catch {
    return false;
  }
}
