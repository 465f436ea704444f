import { afterAll, beforeAll, expect, test } from "bun:test";
import { ListWatch, type V1ConfigMap, type Watch } from "@kubernetes/client-node";
import { Client } from "../conformance/client.ts";
import { Kubectl } from "../conformance/kubectl.ts";
import { until } from "../until.ts";
import { hasHaproxy, LocalClusterCommand, openWay, Scratch } from "./local-cluster.ts";

const timeoutMs = 240_000;
const namespace = "default";
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const informersCount = 4;
const writersCount = 4;
const restartInformerMs = 100;
const scratch = new Scratch();
let cluster: LocalClusterCommand;
let way: Awaited<ReturnType<typeof openWay>>;

beforeAll(async () => {
  cluster = await LocalClusterCommand.found(scratch.directory);
  way = await openWay(scratch.directory);
}, timeoutMs);
afterAll(async () => {
  await way[Symbol.asyncDispose]();
  await cluster.stop();
  scratch[Symbol.dispose]();
}, timeoutMs);

/** client-node's informer, which resumes whenever its connection breaks, and counts its lists. */
class Informer {
  readonly #informer: ListWatch<V1ConfigMap>;
  #stopped = false;
  lists = 0;
  connections = 0;

  constructor(client: Client) {
    const list = () => {
      this.lists++;
      return client.core.listNamespacedConfigMap({ namespace });
    };
    this.#informer = new ListWatch<V1ConfigMap>(path, client as unknown as Watch, list, false);
    this.#informer.on("connect", () => this.connections++);
    this.#informer.on("error", () => {
      if (!this.#stopped) setTimeout(() => void this.#informer.start(), restartInformerMs);
    });
  }

  start(): Promise<void> {
    return this.#informer.start();
  }

  stop(): void {
    this.#stopped = true;
    void this.#informer.stop();
  }

  /** Returns `name resourceVersion` of each object, sorted. */
  get state(): string[] {
    return versionsOf(this.#informer.list());
  }
}

function versionsOf(items: readonly V1ConfigMap[]): string[] {
  return items.map(({ metadata }) => `${metadata?.name} ${metadata?.resourceVersion}`).sort();
}

/** Creates, changes and deletes until told to stop. After a failure the outcome is unknown, and the writer continues. */
async function write(
  { core }: Client,
  writer: number,
  isOver: () => boolean,
): Promise<{ done: number; failed: number }> {
  const count = { done: 0, failed: 0 };
  for (let i = 0; !isOver(); i++) {
    const name = `w${writer}-${i % 20}`;
    const body = { metadata: { name }, data: { i: String(i) } };
    const steps = [
      () => core.createNamespacedConfigMap({ namespace, body }),
      () => core.replaceNamespacedConfigMap({ namespace, name, body }),
      ...(i % 3 === 0 ? [() => core.deleteNamespacedConfigMap({ namespace, name })] : []),
    ];
    for (const step of steps) {
      await step().then(
        () => count.done++,
        () => count.failed++,
      );
      await Bun.sleep(10);
    }
  }
  return count;
}

test(
  "informers behind a load balancer end with exactly the server's state while replicas are killed, paused and rolled",
  async () => {
    const clients = Array.from({ length: informersCount }, () => Client.of(way.kubeconfig));
    const informers = clients.map((client) => new Informer(client));
    for (const informer of informers) await informer.start();
    let isOver = false;
    const writers = clients.slice(0, writersCount).map((client, number) => write(client, number, () => isOver));
    await using kubectl = await Kubectl.open(way.kubeconfig);
    const members = JSON.parse(await kubectl.ok(["get", "--raw", "/cluster/members"]));
    const leader = `m${members.leader}`;
    const others = ["m1", "m2", "m3"].filter((name) => name !== leader);

    await Bun.sleep(500);
    await startedAgain(leader, "SIGKILL");
    for (const name of ["m1", "m2", "m3"]) await startedAgain(name, "SIGTERM");
    // Only active checks, such as haproxy's, notice that a replica stands still.
    if (hasHaproxy) await paused(others[0] ?? "", 6_000);
    await startedAgain(others[1] ?? "", "SIGKILL");
    isOver = true;
    const counts = await Promise.all(writers);
    const done = counts.reduce((sum, count) => sum + count.done, 0);
    expect(done).toBeGreaterThan(100);

    // New names each time, because a paused replica may still execute a write that its writer has given up.
    const stored = () => kubectl.get(["configmaps"]).catch(() => ({ items: [] }));
    await until(
      async () => [versionsOf((await stored()).items), ...informers.map(({ state }) => state)],
      ([wanted = [], ...states]) => wanted.length > 0 && states.every((state) => Bun.deepEquals(state, wanted)),
    );
    for (const informer of informers) informer.stop();
    // Every replica has the history from which an informer resumes, so none has to list again.
    expect(informers.map(({ lists }) => lists)).toEqual(informers.map(() => 1));
    expect(informers.every(({ connections }) => connections > 1)).toBe(true);
  },
  timeoutMs,
);

async function startedAgain(name: string, signal: NodeJS.Signals): Promise<void> {
  const pid = cluster.pidOf(name);
  process.kill(pid, signal);
  await cluster.says((line) => line.startsWith(`${name} (process ${pid}) `));
  cluster.signal("SIGUSR2");
  const before = cluster.complaints.length;
  for (const endMs = performance.now() + 60_000; cluster.pidOf(name) === pid; await Bun.sleep(20)) {
    if (performance.now() > endMs) throw new Error(`${name} did not come back\n${cluster.complaints.slice(before)}`);
  }
  await Bun.sleep(1_000);
}

async function paused(name: string, ms: number): Promise<void> {
  process.kill(cluster.pidOf(name), "SIGSTOP");
  await Bun.sleep(ms);
  process.kill(cluster.pidOf(name), "SIGCONT");
}
