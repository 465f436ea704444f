import type { OwnerReference } from "../../api/object-meta.ts";
import type { Clock } from "../../process/clock.ts";
import type { Registries } from "../../registry/registries.ts";
import { uidOf } from "../../storage/object-uid.ts";
import type { Store } from "../../storage/store.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { SlicedWork } from "../sliced-work.ts";

const component = "garbage-collector-controller";
/** Maximum number of owners per search. Further owners are not reported. */
const pendingMax = 1_000;
/** Maximum number of remembered owners: deleted ones, and those already reported. */
const knownMax = 10_000;
/** Time between two searches. */
const searchMs = 1_000;

export interface Dependent {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface Suspicion {
  readonly dependent: Dependent;
  readonly owner: OwnerReference;
}

export interface MisplacedOwnersParts {
  readonly registries: Registries;
  readonly store: Pick<Store, "scan">;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Reports owners that exist, but in another namespace than their dependent. The mistake is rare and uids are not indexed,
 * so one search covers all owners that were not found within a second.
 */
export class MisplacedOwners implements Disposable {
  readonly #parts: MisplacedOwnersParts;
  readonly #work: SlicedWork;
  readonly #recorder: EventRecorder;
  /** By owner, then by dependent. */
  readonly #pending = new Map<string, Map<string, Suspicion>>();
  readonly #known = new Set<string>();
  #timer: Disposable | undefined;

  constructor(parts: MisplacedOwnersParts) {
    this.#parts = parts;
    this.#work = new SlicedWork(parts.onError);
    const events = parts.registries.builtIn({ group: "", resource: "events" });
    this.#recorder = new EventRecorder({ ...parts, events, component });
  }

  /** Records that an object was deleted, so that it is not searched for. A uid is never reused. */
  gone(uid: string): void {
    this.#know(uid);
    this.#pending.delete(uid);
  }

  /** Schedules a search for an owner that is missing where its dependent expects it. */
  suspect(dependent: Dependent, owner: OwnerReference): void {
    if (this.#known.has(owner.uid) || this.#known.has(owner.uid + dependent.uid)) return;
    if (this.#pending.size >= pendingMax) return;
    const suspicions = this.#pending.get(owner.uid) ?? new Map<string, Suspicion>();
    if (suspicions.size >= pendingMax) return;
    this.#pending.set(owner.uid, suspicions.set(dependent.uid, { dependent, owner }));
    this.#timer ??= this.#parts.clock.after(searchMs, () => {
      this.#timer = undefined;
      this.#work.add(() => this.#search());
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#work[Symbol.dispose]();
    this.#recorder[Symbol.dispose]();
  }

  *#search(): Generator<void, void> {
    const searched = [...this.#pending.keys()];
    for (const { info } of this.#parts.registries.all()) {
      if (!info.namespaced) continue;
      for (const entry of this.#parts.store.scan(info.keyPrefix)) {
        yield;
        const { key } = entry;
        const uid = uidOf(entry);
        const suspicions = this.#pending.get(uid);
        if (suspicions === undefined) continue;
        this.#pending.delete(uid);
        const [namespace] = key.slice(info.keyPrefix.length).split("/");
        for (const suspicion of suspicions.values()) {
          if (suspicion.dependent.namespace !== namespace) this.#report(suspicion);
        }
      }
    }
    for (const uid of searched) if (this.#pending.delete(uid)) this.#know(uid);
  }

  #know(known: string): void {
    this.#known.add(known);
    if (this.#known.size <= knownMax) return;
    for (const oldest of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }

  #report({ dependent, owner }: Suspicion): void {
    this.#know(owner.uid + dependent.uid);
    const { apiVersion, kind, name, uid } = owner;
    const ref = `[${apiVersion}/${kind}, namespace: ${dependent.namespace}, name: ${name}, uid: ${uid}]`;
    const message = `ownerRef ${ref} does not exist in namespace ${JSON.stringify(dependent.namespace)}`;
    this.#recorder.record({ about: { ...dependent }, type: "Warning", reason: "OwnerRefInvalidNamespace", message });
  }
}
