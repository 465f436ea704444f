import { parseJson } from "../../src/api/codec/json.ts";
import type { KubeObject } from "../../src/api/object-meta.ts";
import { builtInCatalog } from "../../src/kinds/built-in-catalog.ts";
import { Scheme } from "../../src/kinds/scheme.ts";
import { systemClock } from "../../src/process/clock.ts";
import type { CreateOptions } from "../../src/registry/create.ts";
import type { Registry } from "../../src/registry/registry.ts";
import { serverContext } from "../../src/registry/server-context.ts";
import { openRegistries } from "../../src/server/registries.ts";
import { CacherSet } from "../../src/storage/cacher/cacher-set.ts";
import { MemoryStore } from "../../src/storage/memory-store.ts";
import { cpuMs } from "../cpu-time.ts";
import { deploymentDocument } from "./deployments.ts";

/** Deployments that are made in one go. */
const batch = 200;
const warmUpMs = 2_000;

/** CPU of creations, in microseconds each. */
export interface TrackedCreates {
  readonly tracked: number;
  readonly untracked: number;
}

/**
 * Measures creations in this process, from the bytes of a Deployment to those in a store in memory, with and without
 * tracking of fields. Connections, authorization and the disk are left out: with them the difference is smaller.
 */
export async function measureTrackedCreates(seconds: number): Promise<TrackedCreates> {
  await using tracked = await Side.open({});
  await using untracked = await Side.open({ tracker: () => undefined });
  // In turns: a busy moment of the machine must not count for one side alone.
  const turns = async (milliseconds: number) => {
    const endMs = performance.now() + milliseconds;
    while (performance.now() < endMs) for (const side of [tracked, untracked]) await side.createBatch();
  };
  await turns(warmUpMs);
  for (const side of [tracked, untracked]) side.forget();
  await turns(seconds * 1_000);
  return { tracked: tracked.microseconds, untracked: untracked.microseconds };
}

/** A registry of Deployments, and what its creations have cost. */
class Side implements AsyncDisposable {
  readonly #registry: Registry;
  readonly #options: CreateOptions;
  readonly #cleanup: AsyncDisposableStack;
  #spentMs = 0;
  #measured = 0;
  #created = 0;

  private constructor(registry: Registry, options: CreateOptions, cleanup: AsyncDisposableStack) {
    this.#registry = registry;
    this.#options = options;
    this.#cleanup = cleanup;
  }

  static async open(options: CreateOptions): Promise<Side> {
    const cleanup = new AsyncDisposableStack();
    const scheme = Scheme.builtIn();
    const store = cleanup.adopt(new MemoryStore(), (open) => open.close());
    const cachers = cleanup.adopt(new CacherSet({ store, clock: systemClock }), (set) => set.close());
    const { registries } = openRegistries({
      catalog: builtInCatalog(scheme),
      store,
      cachers,
      clock: systemClock,
      randomInt: () => 0,
    });
    const namespace = { kind: "Namespace", apiVersion: "v1", metadata: { name: "default" } };
    await registries.of(scheme.find("", "v1", "namespaces")).create(namespace, "", serverContext);
    return new Side(registries.of(scheme.find("apps", "v1", "deployments")), options, cleanup);
  }

  get microseconds(): number {
    return (1_000 * this.#spentMs) / this.#measured;
  }

  /** Counts from here on. */
  forget(): void {
    [this.#spentMs, this.#measured] = [0, 0];
  }

  async createBatch(): Promise<void> {
    const bodies = Array.from({ length: batch }, () =>
      Buffer.from(JSON.stringify(deploymentDocument(this.#created++))),
    );
    const startMs = cpuMs();
    for (const body of bodies) await this.#create(body);
    this.#spentMs += cpuMs() - startMs;
    this.#measured += batch;
  }

  async #create(body: Uint8Array): Promise<void> {
    const { info } = this.#registry;
    const { value } = parseJson(body, { strict: true });
    const { object } = info.form.decode(value, { kind: info.kind, takesOver: true });
    await this.#registry.create(object as unknown as KubeObject, "default", serverContext, this.#options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cleanup.disposeAsync();
  }
}
