import type { MemberProcess } from "../integration/member-process.ts";
import type { BenchCluster } from "./cluster.ts";
import type { FailoverLoad, Observed, Totals } from "./failover-load.ts";
import { type Figure, percentile } from "./report.ts";

/** Time in which the effects of a fault appear and disappear. */
export const stretchMs = 2_500;
const pauseMs = 5_000;
export const calmMs = 500;

/** Injects faults into members, and reports what clients observed. */
export class Scene {
  readonly #cluster: BenchCluster;
  readonly #load: FailoverLoad;

  constructor(cluster: BenchCluster, load: FailoverLoad) {
    this.#cluster = cluster;
    this.#load = load;
  }

  async killLeader(): Promise<Observed> {
    const leader = await this.#cluster.leader();
    const observed = await this.observe(leader, async () => {
      await leader.stop("SIGKILL");
      await Bun.sleep(stretchMs);
    });
    await leader.start(["up"]);
    await this.#calm();
    return observed;
  }

  async pauseLeader(): Promise<Observed> {
    const leader = await this.#cluster.leader();
    const observed = await this.observe(leader, async () => {
      leader.signal("SIGSTOP");
      await Bun.sleep(pauseMs);
    });
    leader.signal("SIGCONT");
    await this.#calm();
    return observed;
  }

  async transfer(): Promise<Observed> {
    const leader = await this.#cluster.leader();
    const heir = this.#cluster.members.find((member) => member !== leader) as MemberProcess;
    const observed = await this.observe(leader, async () => {
      await this.#cluster.transfer(heir);
      await Bun.sleep(calmMs);
    });
    await this.#calm();
    return observed;
  }

  /** One after the other, each when the previous one is back. */
  async rollingRestart(): Promise<Observed[]> {
    const all: Observed[] = [];
    for (const member of this.#cluster.members) {
      const restart = async () => {
        await member.stop("SIGTERM");
        await member.start(["up"]);
      };
      all.push(await this.observe(member, restart));
      await this.#calm();
    }
    return all;
  }

  /** @param failing the affected member */
  async observe(failing: MemberProcess | undefined, run: () => Promise<void>): Promise<Observed> {
    this.#load.begin();
    await run();
    return this.#load.observed(failing?.url);
  }

  async #calm(): Promise<void> {
    await this.#cluster.settled();
    this.#load.goHome();
    await Bun.sleep(calmMs);
  }
}

export async function times(count: number, run: () => Promise<Observed>): Promise<Observed[]> {
  const all: Observed[] = [];
  for (let done = 0; done < count; done++) all.push(await run());
  return all;
}

export function figuresOf(what: string, observed: readonly Observed[]): Figure[] {
  const gaps = observed.flatMap(({ slowestWritesMs }) => slowestWritesMs);
  const elsewhere = observed.flatMap(({ elsewhereMs }) => elsewhereMs);
  const outages = observed.map(({ longestOutageMs }) => longestOutageMs);
  const reads = observed.map(({ slowestReadMs }) => slowestReadMs);
  const spread = (samples: readonly number[]) =>
    `p50 ${percentile(samples, 0.5).toFixed(0)}, p99 ${percentile(samples, 0.99).toFixed(0)}, max ${Math.max(...samples).toFixed(0)} ms`;
  const sum = observed.reduce((total, { outageMs }) => total + outageMs, 0);
  const others = { name: `${what}: through the others`, unit: "ms", note: spread(elsewhere) };
  return [
    { name: `${what}: write gap`, value: percentile(gaps, 0.99), unit: "ms", note: `${spread(gaps)}` },
    ...(elsewhere.length === 0 ? [] : [{ ...others, value: percentile(elsewhere, 0.99) }]),
    {
      name: `${what}: nobody could write`,
      value: Math.max(...outages),
      unit: "ms",
      note: `${spread(outages)}; in all ${sum.toFixed(0)} ms`,
    },
    { name: `${what}: slowest read`, value: Math.max(...reads), unit: "ms", note: spread(reads) },
  ];
}

export function totals(all: Totals): Figure[] {
  const codes = [...all.codes].map(([code, count]) => `${code}: ${count}`).join(", ");
  return [
    { name: "writes", value: all.writes, unit: "", note: `${all.unknownWrites} without an answer, looked up` },
    { name: "acknowledged and lost", value: all.lostWrites, unit: "" },
    { name: "reads", value: all.reads, unit: "", note: codes },
    { name: "failed reads", value: all.failedReads, unit: "" },
    { name: "stale reads", value: all.staleReads, unit: "" },
    { name: "told to come again", value: all.deferred, unit: "" },
    { name: "events", value: all.events, unit: "" },
    { name: "events twice or out of order", value: all.misplacedEvents, unit: "" },
    { name: "events missing", value: all.missingEvents, unit: "" },
    { name: "lists anew", value: all.relists, unit: "" },
  ];
}
