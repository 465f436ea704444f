import type { Registry } from "prom-client";
import Gauge from "prom-client/lib/gauge.js";
import type { Cluster, ReplicaStatus } from "../../storage/cluster.ts";
import type { ReplicaObserver } from "../../storage/replicated/open-replica.ts";
import { BoundCounter, BoundHistogram, type CounterChild } from "./bound-metric.ts";

const secondsBuckets = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const msPerSecond = 1_000;

/** Counters that a replica keeps from its start, before the server can publish them. */
export class StoreMetrics {
  readonly observer: ReplicaObserver;
  readonly #leaderChanges: CounterChild;
  readonly #counters: readonly (BoundCounter | BoundHistogram)[];

  constructor() {
    const proposals = new BoundCounter("quorate_raft_proposals_total", "Batches proposed by this replica, by outcome.");
    const snapshots = new BoundCounter(
      "quorate_raft_snapshots_total",
      "Snapshots of the state, by outcome: sent, received or failed.",
    );
    const leaderChanges = new BoundCounter(
      "quorate_raft_leader_changes_total",
      "Changes of the leader that this replica has seen.",
    );
    const commits = seconds("quorate_raft_commit_duration_seconds", "Time from a proposal to its commit.");
    const fsyncs = seconds("quorate_raft_fsync_duration_seconds", "Duration of durable writes to the log.");
    const applies = seconds("quorate_raft_apply_duration_seconds", "Duration of applying a batch of entries.");
    this.#counters = [proposals, snapshots, leaderChanges, commits, fsyncs, applies];
    this.#leaderChanges = leaderChanges.labels({});
    const outcomes = new Map<string, CounterChild>();
    const outcome = (name: string) => {
      const known = outcomes.get(name) ?? proposals.labels({ outcome: name });
      outcomes.set(name, known);
      return known;
    };
    const [commit, fsync, apply] = [commits.labels({}), fsyncs.labels({}), applies.labels({})];
    const [sent, failed, received] = ["sent", "failed", "received"].map((end) => snapshots.labels({ end })) as [
      CounterChild,
      CounterChild,
      CounterChild,
    ];
    this.observer = {
      answered: (_ms, ended) => void outcome(ended).value++,
      committed: (ms) => commit.observe(ms / msPerSecond),
      persisted: (ms) => fsync.observe(ms / msPerSecond),
      applied: (ms) => apply.observe(ms / msPerSecond),
      snapshotSent: (_to, _ms, arrived) => void (arrived ? sent : failed).value++,
      snapshotReceived: () => void received.value++,
    };
  }

  leaderChanged(): void {
    this.#leaderChanges.value++;
  }

  /** Publishes the counters and the cluster's current state. */
  register(registry: Registry, cluster: Pick<Cluster, "status">): void {
    for (const counter of this.#counters) counter.register(registry);
    const gauge = (name: string, help: string, value: (status: ReplicaStatus) => number): void => {
      const made: Gauge = new Gauge({
        name,
        help,
        registers: [registry],
        collect: () => made.set(value(cluster.status())),
      });
    };
    gauge("quorate_raft_term", "Current term of this replica.", ({ term }) => term);
    gauge("quorate_raft_is_leader", "1 on the leader, 0 on others.", ({ role }) => (role === "leader" ? 1 : 0));
    gauge("quorate_raft_has_leader", "1 if this replica knows a leader.", ({ leader }) =>
      leader === undefined ? 0 : 1,
    );
    gauge("quorate_raft_log_bytes", "Size of the log in memory.", ({ logBytes }) => logBytes);
    gauge("quorate_store_revision", "Latest revision that this replica has applied.", ({ revision }) => revision);
    gauge("quorate_store_compacted_revision", "Oldest readable revision.", (status) => status.compactedRevision);
    gauge("quorate_store_objects", "Objects in the store.", ({ objects }) => objects);
    gauge("quorate_store_failed", "1 if the store has failed and takes no more writes.", ({ failure }) =>
      failure === undefined ? 0 : 1,
    );
    registerIndexes(registry, cluster);
    registerPeers(registry, cluster);
  }
}

function seconds(name: string, help: string): BoundHistogram {
  return new BoundHistogram(name, help, secondsBuckets);
}

function registerIndexes(registry: Registry, cluster: Pick<Cluster, "status">): void {
  const index: Gauge = new Gauge({
    name: "quorate_raft_index",
    help: "Indexes in the log: the last entry, and the last one that is committed, applied and written to the database.",
    labelNames: ["place"],
    registers: [registry],
    collect() {
      const { lastIndex, commitIndex, appliedIndex, flushedIndex } = cluster.status();
      const places = { last: lastIndex, committed: commitIndex, applied: appliedIndex, flushed: flushedIndex };
      for (const [place, value] of Object.entries(places)) index.set({ place }, value);
    },
  });
}

/** Registers metrics that only the leader knows. Other replicas expose no samples. */
function registerPeers(registry: Registry, cluster: Pick<Cluster, "status">): void {
  const lag: Gauge = new Gauge({
    name: "quorate_raft_peer_lag_entries",
    help: "Entries of the leader's log that another member may lack.",
    labelNames: ["member"],
    registers: [registry],
    collect() {
      lag.reset();
      const { self, lastIndex, members } = cluster.status();
      for (const { id, matchIndex } of members) {
        if (id !== self && matchIndex !== undefined) lag.set({ member: String(id) }, lastIndex - matchIndex);
      }
    },
  });
  const active: Gauge = new Gauge({
    name: "quorate_raft_peer_active",
    help: "1 for a member that the leader heard from within the last election timeout.",
    labelNames: ["member"],
    registers: [registry],
    collect() {
      active.reset();
      const { self, members } = cluster.status();
      for (const { id, isActive } of members) {
        if (id !== self && isActive !== undefined) active.set({ member: String(id) }, isActive ? 1 : 0);
      }
    },
  });
}
