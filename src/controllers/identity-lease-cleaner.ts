import type { KubeObject } from "../api/object-meta.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { removeObject } from "../registry/remove-object.ts";
import { apiServerContext } from "../registry/server-context.ts";
import { identityLabel, identityLeaseNamespace } from "./identity-lease.ts";
import { recordOf } from "./lease-record.ts";

const intervalMs = 60 * 60_000;

export interface IdentityLeaseCleanerParts {
  /** Registry of leases. */
  readonly leases: Registry;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Removes expired identity Leases of servers once an hour. */
export function startIdentityLeaseCleaner(parts: IdentityLeaseCleanerParts): Disposable {
  const { clock, onError } = parts;
  const running = new DisposableStack();
  const clean = () => void cleanIdentityLeases(parts).catch((error: unknown) => running.disposed || onError(error));
  running.use(clock.after(0, clean));
  running.use(clock.every(intervalMs, clean));
  return running;
}

/**
 * Checks all Leases once. Their writers' clocks set the times. An hour exceeds any clock difference, and a running server
 * creates its Lease again.
 */
async function cleanIdentityLeases({ leases, clock }: IdentityLeaseCleanerParts): Promise<void> {
  const prefix = `${leases.info.keyPrefix}${identityLeaseNamespace}/`;
  const page = await leases.cacher.list({ prefix });
  for (const { key, index } of page.entries) {
    if (index.labels?.[identityLabel.name] !== identityLabel.value) continue;
    const lease = leases.current(identityLeaseNamespace, key.slice(prefix.length));
    if (lease !== undefined && hasExpired(lease, clock.nowMs())) await removeObject(leases, lease, apiServerContext);
  }
}

/** Reports whether a Lease has expired. A Lease without an end has. */
function hasExpired(lease: KubeObject, nowMs: number): boolean {
  const { renewTime, leaseDurationSeconds } = recordOf(lease);
  const renewedMs = Date.parse(renewTime);
  return !(renewedMs + 1_000 * leaseDurationSeconds >= nowMs) || leaseDurationSeconds === 0;
}
