import { expect, test } from "bun:test";
import fc from "fast-check";
import type { KubeObject, OwnerReference } from "../../api/object-meta.ts";
import { uidOf } from "../../storage/object-uid.ts";
import { CrashTest } from "../leader-crash/testing.ts";
import { startGarbageCollector } from "./garbage-collector.ts";
import type { PropagationPolicy } from "./verdict.ts";

const namespace = "n";
const runs = 60;

/** A cluster in which half of the objects are ConfigMaps, the others Secrets. */
class World implements AsyncDisposable {
  readonly #test: CrashTest;

  private constructor(test: CrashTest) {
    this.#test = test;
  }

  static async open(): Promise<World> {
    return new World(await CrashTest.openFor(startGarbageCollector));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#test[Symbol.asyncDispose]();
  }

  get errors(): readonly unknown[] {
    return this.#test.errors;
  }

  async create(name: string, ownerReferences: OwnerReference[]): Promise<string> {
    const object = { kind: kindOf(name), metadata: { name, namespace, ownerReferences } };
    return (await this.#test.create(resourceOf(name), object)).metadata.uid ?? "";
  }

  async own(name: string, owner: OwnerReference): Promise<void> {
    const transform = (old: KubeObject): KubeObject => {
      const others = (old.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.uid);
      return { ...old, metadata: { ...old.metadata, ownerReferences: [...others, owner] } };
    };
    await this.#test.update(resourceOf(name), name, transform);
  }

  async remove(name: string, propagationPolicy: PropagationPolicy): Promise<void> {
    await this.#test.delete(resourceOf(name), name, { propagationPolicy }, namespace);
  }

  /** Returns the objects: the uids of each object's owners by its own uid. */
  objects(): Record<string, string[]> {
    const { store } = this.#test;
    const prefixes = ["configmaps", "secrets"].map((resource) => this.#test.registry(resource).info.keyPrefix);
    const entries = prefixes.flatMap((prefix) => store.scan(prefix));
    return Object.fromEntries(entries.map((entry) => [uidOf(entry), (entry.index.owners ?? []).map(({ uid }) => uid)]));
  }

  /** Runs several leaders for some writes each, then one to the end. */
  async settle(crashesAfter: readonly number[]): Promise<void> {
    await this.#test.run(crashesAfter.map((writes) => ({ writes, lastIsApplied: writes % 2 === 0 })));
  }
}

const kindOf = (name: string) => (name.startsWith("b") ? "Secret" : "ConfigMap");
const resourceOf = (name: string) => (name.startsWith("b") ? "secrets" : "configmaps");

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
