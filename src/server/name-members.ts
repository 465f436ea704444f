import type { NamedServer } from "../access/certificates/kubeconfig.ts";
import type { Clock } from "../process/clock.ts";
import type { Cluster } from "../storage/cluster.ts";

const intervalMs = 1_000;

export interface NameMembersParts {
  readonly cluster: Pick<Cluster, "members">;
  readonly clock: Clock;
  /** Names the members in the kubeconfig. */
  readonly identity: { nameMembers(members: readonly NamedServer[]): Promise<void> };
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps the members named in the kubeconfig, so that a client finds another server when its own is gone. A server without
 * members is named from the start.
 */
export function nameMembers({ cluster, clock, identity, onError }: NameMembersParts): Disposable {
  const update = () => {
    const members = cluster.members().filter(({ clientUrl }) => clientUrl !== "");
    const named = members.length > 1 ? members.map(({ name, clientUrl }) => ({ name, server: clientUrl })) : [];
    identity.nameMembers(named).catch(onError);
  };
  update();
  return clock.every(intervalMs, update);
}
