import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError } from "../api/status.ts";
import { formatMicroTime } from "../api/time.ts";
import type { Lease } from "../api/types/coordination-v1.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import { apiServerContext } from "../registry/server-context.ts";
import { StoreUnavailableError } from "../storage/store.ts";

export const identityLeaseNamespace = "kube-system";
/** Label that identifies the Leases of API servers. */
export const identityLabel = { name: "apiserver.kubernetes.io/identity", value: "kube-apiserver" } as const;
const leaseDurationSeconds = 3_600;
const renewIntervalMs = 10_000;
/** Digits of RFC 4648 as used in the names of these Leases. */
const base32Digits = "abcdefghijklmnopqrstuvwxyz234567";

export interface IdentityLeaseParts {
  /** Registry of leases. */
  readonly leases: Registry;
  readonly serverId: string;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Maintains the Lease `apiserver-<hash>`, which tells clients that this server runs. */
export function startIdentityLease(parts: IdentityLeaseParts): Disposable {
  const { clock, onError } = parts;
  const name = identityLeaseName(parts.serverId);
  const holder = `${name}_${crypto.randomUUID()}`;
  const running = new DisposableStack();
  let renewal: Promise<void> | undefined;
  const renew = () => {
    renewal ??= renewLease(parts, name, holder)
      .catch((error: unknown) => {
        // Another writer created or removed it just now, or the store rejects writes. The next renewal tries again.
        const isExpected = error instanceof StatusError || error instanceof StoreUnavailableError;
        if (!isExpected && !running.disposed) onError(error);
      })
      .finally(() => (renewal = undefined));
  };
  running.use(clock.after(0, renew));
  running.use(clock.every(renewIntervalMs, renew));
  return running;
}

/** Returns the Lease's name. Upstream hashes the host name, but several of our servers may share a host. */
export function identityLeaseName(serverId: string): string {
  const hash = createHash("sha256").update(serverId).digest().subarray(0, 16);
  return `apiserver-${base32(hash)}`;
}

async function renewLease({ leases, clock }: IdentityLeaseParts, name: string, holder: string): Promise<void> {
  const spec = { holderIdentity: holder, leaseDurationSeconds, renewTime: formatMicroTime(clock.nowMs()) };
  const namespace = identityLeaseNamespace;
  if (leases.current(namespace, name) === undefined) {
    const labels = { [identityLabel.name]: identityLabel.value, "kubernetes.io/hostname": hostname().toLowerCase() };
    const metadata = { name, namespace, labels };
    const lease: Lease = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata, spec };
    await leases.create(lease, namespace, apiServerContext);
    return;
  }
  const labelled = (old: KubeObject): KubeObject => ({
    ...old,
    metadata: { ...old.metadata, labels: { ...old.metadata.labels, [identityLabel.name]: identityLabel.value } },
    spec: { ...(old as Lease).spec, ...spec },
  });
  await leases.update(namespace, name, labelled, apiServerContext, { reapplies: true });
}

function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((group) => base32Digits[Number.parseInt(group.padEnd(5, "0"), 2)]).join("");
}
