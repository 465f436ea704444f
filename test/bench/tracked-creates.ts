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
import { percentile } from "./report.ts";

/** Number of Deployments per batch. */
const batch = 200;
/** The quantile of the batches that counts. */
const undisturbed = 0.1;
const warmUpMs = 2_000;

/** CPU time of a creation in microseconds. */
export interface TrackedCreates {
  readonly tracked: number;
  readonly untracked: number;
}

/**
 * Measures creations in this process, from the bytes of a Deployment to those in a store in memory, with and without
 * field tracking. Connections, authorization and the disk are omitted, because they would hide the difference.
 */
export async function measureTrackedCreates(seconds: number): Promise<TrackedCreates> {
  const scheme = Scheme.builtIn();
  const tracked = new Side(scheme, {});
  const untracked = new Side(scheme, { tracker: () => undefined });
  // In turns, so that a busy moment of the machine affects both sides.
  const turns = async (milliseconds: number) => {
    const endMs = performance.now() + milliseconds;
    while (performance.now() < endMs) for (const side of [tracked, untracked]) await side.run();
  };
  await turns(warmUpMs);
  for (const side of [tracked, untracked]) side.forget();
  await turns(seconds * 1_000);
  return { tracked: tracked.microseconds, untracked: untracked.microseconds };
}

/** Creations of one kind, and their costs. */
class Side {
  readonly #scheme: Scheme;
  readonly #options: CreateOptions;
  #created = 0;
  readonly #costs: number[] = [];

  constructor(scheme: Scheme, options: CreateOptions) {
    this.#scheme = scheme;
    this.#options = options;
  }

  /** Returns the cost of one creation, from the batches that other work on the machine has affected least. */
  get microseconds(): number {
    return percentile(this.#costs, undisturbed);
  }

  /** Starts counting. */
  forget(): void {
    this.#costs.length = 0;
  }

  /** Creates a batch in a separate store, so that stored objects do not add to the garbage collector's work. */
  async run(): Promise<void> {
    await using cleanup = new AsyncDisposableStack();
    const store = cleanup.adopt(new MemoryStore(), (open) => open.close());
    const cachers = cleanup.adopt(new CacherSet({ store, clock: systemClock }), (set) => set.close());
    const catalog = builtInCatalog(this.#scheme);
    const { registries } = openRegistries({ catalog, store, cachers, clock: systemClock, randomInt: () => 0 });
    const namespace = { kind: "Namespace", apiVersion: "v1", metadata: { name: "default" } };
    await registries.of(this.#scheme.find("", "v1", "namespaces")).create(namespace, "", serverContext);
    const registry = registries.of(this.#scheme.find("apps", "v1", "deployments"));
    const bodies = Array.from({ length: batch }, (_, number) =>
      Buffer.from(JSON.stringify(deploymentDocument(number, `1.${this.#created + number}`))),
    );
    const startMs = cpuMs();
    for (const body of bodies) await this.#create(registry, body);
    this.#costs.push((1_000 * (cpuMs() - startMs)) / batch);
    this.#created += batch;
  }

  async #create(registry: Registry, body: Uint8Array): Promise<void> {
    const { info } = registry;
    const { value } = parseJson(body, { strict: true });
    const { object } = info.form.decode(value, { kind: info.kind, takesOver: true });
    await registry.create(object as unknown as KubeObject, "default", serverContext, this.#options);
  }
}
