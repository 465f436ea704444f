import type { SecretTokenUses } from "../access/authentication/service-account/secret-token-uses.ts";
import { StoreUnavailableError } from "../storage/store.ts";
import { identityLeaseName, startIdentityLease } from "./identity-lease.ts";
import { announcedAddress, KubernetesService } from "./kubernetes-service.ts";
import type { LeaderControllersParts } from "./leader-controllers.ts";
import { LeaderElection } from "./leader-election.ts";
import { startLegacyTokenTracking } from "./legacy-token-tracking.ts";
import { MasterLeases } from "./master-leases.ts";

/** The name of the lease, also in metrics. */
export const leaderLeaseName = "quorate-controllers";

/** The Lease that elects the server to run the leader's controllers. */
const lock = { namespace: "kube-system", name: leaderLeaseName } as const;

export interface ServerControllersParts extends LeaderControllersParts {
  readonly serverId: string;
  readonly bindAddress: string;
  readonly port: number;
  readonly secretTokenUses: SecretTokenUses;
  /** Whether the store is on etcd, which kube-apiservers may share. */
  readonly isOnEtcd: boolean;
}

export interface ServerControllers {
  /** Whether this server runs the controllers that only one server runs. */
  readonly isLeader: boolean;
  /** Directs clients to other servers from now on. The controllers continue. */
  leave(): Promise<void>;
  /** Stops everything and lets another server lead. */
  stop(): Promise<void>;
}

/**
 * Starts the controllers of every server, and competes for the leadership of the others. The server already answers, so
 * this does not delay its start.
 */
export function startServerControllers(parts: ServerControllersParts): ServerControllers {
  const { registries, clock, store, serverId, servers, bindAddress, port, onError } = parts;
  const leases = registries.builtIn({ group: "coordination.k8s.io", resource: "leases" });
  const identity = identityLeaseName(serverId);
  const lead = () => loadLeaderControllers(parts);
  const election = new LeaderElection({ ...lock, leases, identity, store, clock, random: Math.random, lead, onError });
  election.start();

  const running = new DisposableStack();
  running.use(startIdentityLease({ leases, serverId, clock, onError }));
  running.use(startRequestControllers(parts));
  const network = parts.serviceAllocation?.network;
  const address = announcedAddress(bindAddress, network?.clusterIps[0]?.family ?? "IPv4");
  servers.announce(port, address);
  const leased = parts.isOnEtcd ? new MasterLeases({ store, clock, servers, address, port, onError }) : undefined;
  if (leased !== undefined) running.use(leased.start());
  const registry = registries.builtIn.bind(registries);
  const found = { ...parts, servers: leased ?? servers, registry };
  const service = network === undefined ? undefined : new KubernetesService({ ...found, network });
  if (service !== undefined) running.use(service.start());
  const leave = async () => service?.leave();
  return {
    get isLeader() {
      return election.isLeader;
    },
    leave,
    async stop() {
      await leave();
      await election.stop();
      running.dispose();
      await servers.withdraw();
    },
  };
}

/** The parts of the controllers that a process needs which only answers requests. */
export type RequestControllersParts = Pick<
  ServerControllersParts,
  "registries" | "clock" | "secretTokenUses" | "quotas" | "servers" | "onError"
>;

/** Starts the controllers that belong to the requests which a process answers. */
export function startRequestControllers(parts: RequestControllersParts): Disposable {
  const { registries, clock, onError } = parts;
  const running = new DisposableStack();
  const secrets = registries.find({ group: "", resource: "secrets" });
  if (secrets !== undefined) {
    running.use(startLegacyTokenTracking({ secrets, clock, uses: parts.secretTokenUses, onError }));
  }
  running.use(shareQuotaCharges(parts));
  return running;
}

/** Loads the controllers of the leader when this server leads for the first time, because it answers before that. */
function loadLeaderControllers(parts: LeaderControllersParts): Disposable {
  const running = new DisposableStack();
  import("./leader-controllers.ts")
    .then(({ startLeaderControllers }) => {
      if (!running.disposed) running.use(startLeaderControllers(parts));
    })
    .catch(parts.onError);
  return running;
}

function shareQuotaCharges({ quotas, servers, onError }: RequestControllersParts): Disposable {
  const running = new DisposableStack();
  const meet = () => {
    quotas.meet(servers.joined).catch((error: unknown) => {
      // The next run removes remains.
      if (!(error instanceof StoreUnavailableError) && !running.disposed) onError(error);
    });
  };
  running.use(quotas.follow());
  running.use(servers.follow(meet));
  meet();
  return running;
}
