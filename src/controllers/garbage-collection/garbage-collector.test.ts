import { expect, test } from "bun:test";
import fc from "fast-check";
import { systemUser } from "../../access/authentication/system-user.ts";
import type { KubeObject, OwnerReference } from "../../api/object-meta.ts";
import { builtInCatalog } from "../../kinds/built-in-catalog.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { plainDeletion } from "../../registry/delete-options.ts";
import type { Registry } from "../../registry/registry.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { openRegistries } from "../../server/registries.ts";
import { CacherSet } from "../../storage/cacher/cacher-set.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import type { Store } from "../../storage/store.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import type { PropagationPolicy } from "./verdict.ts";

const scheme = Scheme.builtIn();
const context: WriteContext = { user: systemUser, manager: "test", dryRun: false, warn() {} };
const namespace = "n";
/** Number of turns without a write after which nothing more happens, unless a timer runs. */
const quietTurns = 12;
const runs = 60;

/** A cluster whose leader may crash. Half of the objects are ConfigMaps, the others Secrets. */
class World implements AsyncDisposable {
  readonly store = new MemoryStore();
  readonly clock = new ManualClock();
  readonly errors: unknown[] = [];
  readonly #cachers = new CacherSet({ store: this.store, clock: this.clock });
  readonly #registries = this.#open(this.store).registries;
  #leader: Disposable | undefined;

  static async open(): Promise<World> {
    const world = new World();
    const namespaces = world.#registries.builtIn({ group: "", resource: "namespaces" });
    await namespaces.create({ kind: "Namespace", apiVersion: "v1", metadata: { name: namespace } }, "", context);
    return world;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leader?.[Symbol.dispose]();
    this.#cachers.close();
    await this.store.close();
  }

  registryOf(name: string): Registry {
    return this.#registries.builtIn({ group: "", resource: kindOf(name) === "Secret" ? "secrets" : "configmaps" });
  }

  async create(name: string, ownerReferences: OwnerReference[]): Promise<string> {
    const object = { kind: kindOf(name), apiVersion: "v1", metadata: { name, namespace, ownerReferences } };
    return (await this.registryOf(name).create(object, namespace, context)).object.metadata.uid ?? "";
  }

  async own(name: string, owner: OwnerReference): Promise<void> {
    const transform = (old: KubeObject): KubeObject => {
      const others = (old.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.uid);
      return { ...old, metadata: { ...old.metadata, ownerReferences: [...others, owner] } };
    };
    await this.registryOf(name).update(namespace, name, transform, context, { reapplies: true });
  }

  async remove(name: string, propagationPolicy: PropagationPolicy): Promise<void> {
    await this.registryOf(name).delete(namespace, name, { ...plainDeletion, propagationPolicy }, context);
  }

  /** Returns the objects: the uids of each object's owners by its own uid. */
  objects(): Record<string, string[]> {
    const entries = ["a0", "b0"].flatMap((name) => this.store.scan(this.registryOf(name).info.keyPrefix));
    return Object.fromEntries(entries.map(({ index }) => [index.uid, (index.owners ?? []).map(({ uid }) => uid)]));
  }

  /** Runs several leaders for some writes each, then one to the end. */
  async settle(crashesAfter: readonly number[]): Promise<void> {
    for (const writes of crashesAfter) {
      let left = writes;
      const crash = Promise.withResolvers<void>();
      // The last write of a leader may or may not be applied. Nobody receives the answer.
      const leader = this.#lead(async (command) => {
        if (left < 0) return new Promise(() => {});
        left--;
        if (left >= 0) return this.store.commit(command);
        if (writes % 2 === 0) await this.store.commit(command);
        crash.resolve();
        return new Promise(() => {});
      });
      await Promise.race([crash.promise, this.#quiet()]);
      leader[Symbol.dispose]();
    }
    using _ = this.#lead((command) => this.store.commit(command));
    await this.#quiet();
  }

  #lead(commit: Store["commit"]): Disposable {
    const store: Store = new Proxy<Store>(this.store, {
      get(target, property) {
        if (property === "commit") return commit;
        const value = Reflect.get(target, property, target) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const { clock } = this;
    const onError = (error: unknown) => void this.errors.push(error);
    const { catalog, registries } = this.#open(store);
    const leader = startGarbageCollector({ catalog, registries, store, clock, onError });
    this.#leader = leader;
    return leader;
  }

  #open(store: Store) {
    const { clock } = this;
    const catalog = builtInCatalog(scheme);
    const { registries } = openRegistries({ catalog, store, cachers: this.#cachers, clock, randomInt: () => 0 });
    return { catalog, registries };
  }

  async #quiet(): Promise<void> {
    for (let quiet = 0; quiet < quietTurns; quiet++) {
      const { revision } = this.store;
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (quiet === quietTurns / 2) this.clock.advance(1_000);
      if (this.store.revision !== revision) quiet = 0;
    }
  }
}

const kindOf = (name: string) => (name.startsWith("b") ? "Secret" : "ConfigMap");

/** The rules in their simplest form: check everything again and again, until nothing changes. */
class Oracle {
  readonly owners = new Map<string, { name: string; owners: OwnerReference[] }>();

  remove(uid: string, policy: PropagationPolicy): void {
    if (policy === "Orphan") {
      for (const object of this.owners.values()) object.owners = object.owners.filter((owner) => owner.uid !== uid);
    }
    this.owners.delete(uid);
  }

  settle(): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (const [uid, object] of this.owners) {
        const found = object.owners.filter((owner) => this.owners.get(owner.uid)?.name === owner.name);
        if (found.length === object.owners.length) continue;
        changed = true;
        if (found.length === 0) this.owners.delete(uid);
        else object.owners = found;
      }
    }
  }

  objects(): Record<string, string[]> {
    return Object.fromEntries([...this.owners].map(([uid, { owners }]) => [uid, owners.map((owner) => owner.uid)]));
  }
}

interface Reference {
  readonly at: number;
  readonly blockOwnerDeletion: boolean;
  /** Whether the reference has the wrong name for its uid. */
  readonly isWrong: boolean;
}

const reference: fc.Arbitrary<Reference> = fc.record({
  at: fc.nat({ max: 30 }),
  blockOwnerDeletion: fc.boolean(),
  isWrong: fc.nat({ max: 9 }).map((n) => n === 0),
});
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("create" as const), owners: fc.array(reference, { maxLength: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("own" as const), child: fc.nat({ max: 30 }), owner: reference }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("remove" as const),
      at: fc.nat({ max: 30 }),
      policy: fc.constantFrom<PropagationPolicy>("Background", "Foreground", "Orphan"),
      crashesAfter: fc.array(fc.nat({ max: 6 }), { maxLength: 4 }),
    }),
  },
);

test("the remaining objects are the oracle's, whenever the leader crashes", async () => {
  const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
    await using current = await World.open();
    const oracle = new Oracle();
    /** Uids of all objects that ever existed, so that some owners are gone. */
    const known: { name: string; uid: string }[] = [];
    const ownerOf = ({ at, blockOwnerDeletion, isWrong }: Reference) => {
      const owner = known[at % known.length];
      if (owner === undefined) return [];
      const name = isWrong ? `${owner.name}x` : owner.name;
      return [{ apiVersion: "v1", kind: kindOf(name), name, uid: owner.uid, blockOwnerDeletion }];
    };
    let count = 0;
    for (const each of steps) {
      if (each.kind === "create") {
        const name = `${count % 2 === 0 ? "a" : "b"}${count++}`;
        const owners = [...new Map(each.owners.flatMap(ownerOf).map((owner) => [owner.uid, owner])).values()];
        const uid = await current.create(name, owners);
        oracle.owners.set(uid, { name, owners });
        known.push({ name, uid });
        await current.settle([]);
      } else if (each.kind === "own") {
        const [uid, child] = [...oracle.owners][each.child % Math.max(1, oracle.owners.size)] ?? [];
        const [owner] = ownerOf(each.owner);
        if (uid === undefined || child === undefined || owner === undefined) continue;
        await current.own(child.name, owner);
        child.owners = [...child.owners.filter((other) => other.uid !== owner.uid), owner];
        await current.settle([]);
      } else {
        const [uid, object] = [...oracle.owners][each.at % Math.max(1, oracle.owners.size)] ?? [];
        if (uid === undefined || object === undefined) continue;
        await current.remove(object.name, each.policy);
        oracle.remove(uid, each.policy);
        await current.settle(each.crashesAfter);
      }
      oracle.settle();
      expect(current.objects()).toEqual(oracle.objects());
      expect(current.errors).toEqual([]);
    }
  });
  await fc.assert(property, { numRuns: runs });
}, 60_000);
