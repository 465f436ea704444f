import { expect, test } from "bun:test";
import { status } from "../../api/status.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { RuntimeError } from "../runtime/runtime.ts";
import { PodFilesError } from "./pod-files.ts";
import { container, PodFixture } from "./testing.ts";

const seed = Number(Bun.env["SEED"] ?? Date.now() % 1_000_000);
console.log(`replay: SEED=${seed} bun test src/agent/pods/pod-storm.test.ts`);
const storms = 8;
const timeoutMs = 60_000;
const steps = 120;
const podsMax = 5;

/** Returns numbers in [0, 1) that follow from the seed. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Looks at every state of a pod that is stored, and at the runtime. */
class Rules {
  readonly #node: PodFixture;
  readonly #last = new Map<string, Pod>();

  constructor(node: PodFixture) {
    this.#node = node;
  }

  async check(): Promise<void> {
    const containers = await this.#node.runtime.containers();
    const running = containers.filter(({ state }) => state.kind === "running");
    const places = running.map(({ sandboxId, name }) => `${sandboxId}/${name}`);
    expect(new Set(places).size).toBe(places.length);
    for (const pod of this.#node.stored.values()) {
      const last = this.#last.get(pod.metadata.uid ?? "");
      if (last !== undefined) this.#compare(last, pod);
      this.#last.set(pod.metadata.uid ?? "", pod);
    }
  }

  #compare({ status: before = {} }: Pod, { status: now = {} }: Pod): void {
    if (before.phase === "Succeeded" || before.phase === "Failed") expect(now.phase).toBe(before.phase);
    if (before.startTime !== undefined) expect(now.startTime).toBe(before.startTime);
    for (const { name, restartCount } of before.containerStatuses ?? []) {
      const later = now.containerStatuses?.find((one) => one.name === name);
      expect(later?.restartCount ?? 0).toBeGreaterThanOrEqual(restartCount);
    }
  }
}

test.each(Array.from({ length: storms }, (_, at) => at))(
  "whatever happens, pods keep their rules, and nothing is left of those that are deleted: storm %d",
  async (storm) => {
    const random = randomFrom(seed + storm);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    using node = new PodFixture();
    await node.open();
    const rules = new Rules(node);
    let created = 0;
    const names = () => [...node.stored.keys()];
    const events: readonly (() => unknown)[] = [
      async () => {
        if (node.stored.size >= podsMax) return;
        const always = { restartPolicy: "Always" } as const;
        const init = pick([
          [],
          [container("init")],
          [container("side", always)],
          [container("side", always), container("init")],
        ]);
        const restartPolicy = pick(["Always", "OnFailure", "Never"]);
        const uid = `uid-${created++}`;
        const name = `p-${Math.floor(random() * podsMax)}`;
        if (node.stored.has(name)) return;
        await node.create(
          name,
          { initContainers: init, containers: [container("web"), container("two")], restartPolicy },
          { uid },
        );
      },
      () => {
        const pod = node.stored.get(pick(names()) ?? "");
        if (pod !== undefined)
          node.runtime.exit(pod.metadata.uid ?? "", pick(["web", "two", "init", "side"]), pick([0, 0, 1]));
      },
      () => node.pass(Math.floor(random() * 15)),
      async () => {
        const name = pick(names());
        if (name !== undefined && random() < 0.4) await node.delete(name, pick([0, 1, 5, 30]));
      },
      async () => {
        const name = pick(names());
        if (name !== undefined && random() < 0.1) await node.remove(name);
      },
      () => {
        const pod = node.stored.get(pick(names()) ?? "");
        if (pod !== undefined && random() < 0.2) node.runtime.loseSandbox(pod.metadata.uid ?? "");
      },
      () => {
        node.failure = random() < 0.3 ? status.internal("no quorum") : undefined;
      },
      () => {
        node.files.problem = random() < 0.2 ? new PodFilesError("FailedMount", "not found") : undefined;
        node.runtime.sandboxError = random() < 0.2 ? new RuntimeError("", "no addresses left") : undefined;
        node.runtime.scripts.set(
          "web",
          random() < 0.3 ? { startError: new RuntimeError("", "no such file") } : { stopMs: 3_000 },
        );
      },
      async () => {
        if (random() < 0.2) await node.open();
        // Containers may take time to stop, which passes only with later events.
        void node.manager.endOrphans();
      },
    ];
    for (let step = 0; step < steps; step++) {
      await pick(events)();
      await node.settle();
      await rules.check();
    }
    node.failure = node.files.problem = node.runtime.sandboxError = undefined;
    node.runtime.scripts.clear();
    void node.manager.endOrphans();
    for (const name of names()) await node.delete(name, 1);
    await node.pass(90);
    expect(names()).toEqual([]);
    expect(node.manager.pods()).toEqual([]);
    expect(await node.runtime.sandboxes()).toEqual([]);
    expect(await node.runtime.containers()).toEqual([]);
    expect(node.files.prepared.size).toBe(0);
    expect(node.errors).toEqual([]);
  },
  timeoutMs,
);
