import type { Clock } from "../process/clock.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Registry } from "../registry/registry.ts";
import { apiServerContext } from "../registry/server-context.ts";
import { identityLabel, identityLeaseNamespace } from "./identity-lease.ts";
import { recordOf } from "./lease-record.ts";
import { removeObject } from "../registry/remove-object.ts";

const intervalMs = 60 * 60_000;

export interface IdentityLeaseCleanerParts {
  /** Of leases. */
  readonly leases: Registry;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Removes the identity Leases of servers that have been gone for longer than the Lease says, once an hour. */
export function startIdentityLeaseCleaner(parts: IdentityLeaseCleanerParts): Disposable {
  const { clock, onError } = parts;
  const running = new DisposableStack();
  const clean = () => void cleanIdentityLeases(parts).catch((error: unknown) => running.disposed || onError(error));
  running.use(clock.after(0, clean));
  running.use(clock.every(intervalMs, clean));
  return running;
}

/**
 * One look at all of them. It is by the clock of whoever wrote the Lease: an hour is more than clocks differ, and a server
 * that is there after all makes its Lease again.
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

/** One that does not say when it ends has ended. */
function hasExpired(lease: KubeObject, nowMs: number): boolean {
  const { renewTime, leaseDurationSeconds } = recordOf(lease);
  const renewedMs = Date.parse(renewTime);
  return !(renewedMs + 1_000 * leaseDurationSeconds >= nowMs) || leaseDurationSeconds === 0;
}
