import type { World } from "../../../raft/testing/simulator/world.ts";
import { parseCidr } from "../../../src/api/validation/ip.ts";
import { type ControllerSettings, startEveryController } from "../../../src/controllers/leader-crash/testing.ts";
import { LeaderElection } from "../../../src/controllers/leader-election.ts";
import type { NodeCidrRange } from "../../../src/controllers/nodes/cidr-set.ts";
import { nodeLifecycleDefaults } from "../../../src/controllers/nodes/node-lifecycle-settings.ts";
import { ServerRecords } from "../../../src/controllers/server-records.ts";
import { pluginsWithoutAccounts } from "../../../src/controllers/testing.ts";
import { builtInCatalog } from "../../../src/kinds/built-in-catalog.ts";
import { Scheme } from "../../../src/kinds/scheme.ts";
import type { Registries } from "../../../src/registry/registries.ts";
import { openRegistries } from "../../../src/server/registries.ts";
import { StoreUnavailableError } from "../../../src/storage/store.ts";
import type { Replica } from "../replica.ts";

const scheme = Scheme.builtIn();
export const graceMs = 8_000;
const settings: ControllerSettings = {
  nodeCidrRanges: [{ cidr: parseCidr("10.0.0.0/20") as NodeCidrRange["cidr"], nodePrefixBits: 24 }],
  nodeLifecycle: { ...nodeLifecycleDefaults, monitorPeriodMs: 1_000, monitorGraceMs: graceMs, evictionRate: 1 },
  terminatedPodsMax: 0,
};

/** A replica with all registries. It competes for the leadership, and runs the controllers while it leads. */
export class ControllerReplica {
  readonly replica: Replica;
  readonly registries: Registries;
  readonly #election: LeaderElection;

  /** @param onError receives errors that no fault explains */
  constructor(replica: Replica, { random }: World, onError: (error: unknown) => void) {
    const { store, cachers, clock } = replica;
    const catalog = builtInCatalog(scheme);
    const randomInt = (below: number) => random.below(below);
    const opened = openRegistries({
      catalog,
      store,
      cachers,
      clock,
      randomInt,
      admissionPlugins: pluginsWithoutAccounts,
    });
    const { registries, quotas } = opened;
    const report = (error: unknown) => {
      if (!(error instanceof StoreUnavailableError || isLostLease(error))) onError(error);
    };
    this.replica = replica;
    this.registries = registries;
    const servers = new ServerRecords({
      id: `member-${replica.id}`,
      store,
      clock,
      onError: report,
    });
    registries.creations.holdUntil(servers.join());
    const parts = { catalog, registries, quotas, store, clock, onError: report };
    this.#election = new LeaderElection({
      namespace: "kube-system",
      name: "quorate-controllers",
      leases: registries.builtIn({ group: "coordination.k8s.io", resource: "leases" }),
      identity: `member-${replica.id}`,
      store,
      clock,
      random: () => random.below(1_000) / 1_000,
      lead: () => startEveryController(parts, settings),
      onError: report,
    }).start();
  }

  get leads(): boolean {
    return this.#election.isLeader;
  }
}

function isLostLease(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("could not renew the lease");
}
