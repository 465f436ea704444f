import { decodeEntry } from "../../api/codec/stored-object.ts";
import type { Key } from "../../api/entry.ts";
import { ordinaryBytesMax } from "../../api/object-extent.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { formatTime } from "../../api/time.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import {
  cleanupFinalizer,
  customResourceDefinition,
  emptyStatus,
} from "../../kinds/apiextensions/custom-resource-definition.ts";
import { type AcceptedNames, type CustomDefinition, readDefinition } from "../../kinds/custom/definition.ts";
import type { Clock } from "../../process/clock.ts";
import { runSliced } from "../../process/sliced.ts";
import { nextTurn } from "../../process/turn.ts";
import { strategyOf } from "../../registry/kind.ts";
import type { Registries } from "../../registry/registries.ts";
import { apiServerContext } from "../../registry/server-context.ts";
import type { Strategy } from "../../registry/strategy.ts";
import type { Store } from "../../storage/store.ts";
import { followObjects } from "../follow-objects.ts";
import { type QueueSource, WorkQueue } from "../work-queue.ts";
import { type Condition, setCondition } from "./conditions.ts";
import { awaitsCleanup, type DeletionProgress, deleteInstances, unconfirmedDeletion } from "./definition-deletion.ts";
import { withStatus } from "./definition-status.ts";
import { LateDeletions } from "./late-deletions.ts";
import { nonStructuralCondition } from "./non-structural-schema.ts";

/** Time after which instances that finalizers hold are checked again. */
const recheckMs = 1_000;

export interface CustomResourcesParts extends QueueSource {
  readonly registries: Registries;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Removes the finalizer and sets the last condition about the instances, and changes nothing else. */
const cleanupStrategy: Strategy = {
  ...strategyOf(customResourceDefinition),
  generationFields: [],
  resetFields: ["spec"],
  prepareForUpdate() {},
  validate: () => [],
  validateUpdate: () => [],
};

/**
 * Gives definitions their names and establishes them, and removes all instances of deleted definitions. When a definition
 * gives up names, the others of its group try again.
 */
export function startCustomResources(parts: CustomResourcesParts): Disposable {
  const { store, clock, observeQueue, onError } = parts;
  const running = new DisposableStack();
  const definitions = new Definitions(parts, (key) => queue.add(key));
  const queue: WorkQueue = running.use(
    new WorkQueue({
      name: "crd_naming_condition_controller",
      clock,
      observeQueue,
      onError,
      work: async (key) => {
        if (await definitions.settle(key)) queue.addAfter(key, recheckMs);
      },
    }),
  );
  running.use(
    followObjects(store, definitions.prefix, (key, type) => {
      if (type === "DELETED") definitions.removed(key);
      queue.add(key);
    }),
  );
  return running;
}

class Definitions {
  readonly prefix: Key;
  readonly #parts: CustomResourcesParts;
  readonly #registry;
  readonly #requeue: (key: Key) => void;
  /** For each definition, the condition about its schemas and the generation that the condition describes. */
  readonly #structures = new Map<Key, { readonly version: string; readonly condition: Condition | undefined }>();
  readonly #late: LateDeletions;

  constructor(parts: CustomResourcesParts, requeue: (key: Key) => void) {
    this.#parts = parts;
    this.#late = new LateDeletions(parts.clock);
    this.#registry = parts.registries.builtIn(customResourceDefinition);
    this.prefix = this.#registry.info.keyPrefix;
    this.#requeue = requeue;
  }

  removed(key: Key): void {
    this.#structures.delete(key);
    this.#late.forget(key);
  }

  /** Takes the next step for a definition. @returns whether it has to be checked again */
  async settle(key: Key): Promise<boolean> {
    const name = key.slice(this.prefix.length);
    const entry = this.#parts.store.get(key);
    const definition = entry && (decodeEntry(entry, this.#registry.info) as CustomResourceDefinition);
    // A large definition takes milliseconds to decode, and an update decodes it again.
    if (entry !== undefined && entry.body.byteLength > ordinaryBytesMax) await nextTurn();
    if (definition === undefined) {
      this.#requeueWaiting(name.slice(name.indexOf(".") + 1));
      return false;
    }
    if (awaitsCleanup(definition)) return this.#cleanUp(key, definition);
    await this.#updateStatus(name, definition);
    return false;
  }

  async #updateStatus(name: string, definition: CustomResourceDefinition): Promise<void> {
    const nonStructural = await this.#nonStructural(this.prefix + name, definition);
    const nowMs = this.#parts.clock.nowMs();
    const changed = (one: CustomResourceDefinition) =>
      withStatus(one, { others: this.#namesBeside(one), nonStructural, nowMs });
    if (changed(definition) === undefined) return;
    await this.#registry.update("", name, (old) => changed(old as CustomResourceDefinition) ?? old, apiServerContext, {
      strategy: strategyOf(customResourceDefinition, "status"),
      subresource: "status",
      reapplies: true,
    });
    this.#requeueWaiting(definition.spec.group);
  }

  /** The schemas change only with the generation. */
  async #nonStructural(key: Key, definition: CustomResourceDefinition): Promise<Condition | undefined> {
    const version = `${definition.metadata.uid}/${definition.metadata.generation}`;
    const known = this.#structures.get(key);
    if (known?.version === version) return known.condition;
    const condition = await runSliced(nonStructuralCondition(definition));
    this.#structures.set(key, { version, condition });
    return condition;
  }

  async #cleanUp(key: Key, definition: CustomResourceDefinition): Promise<boolean> {
    const progress = await deleteInstances(definition, this.#parts.registries);
    const isLate = !progress.isDone && this.#late.isLate(key);
    await this.#report(definition, isLate ? { ...progress, condition: unconfirmedDeletion } : progress);
    return !progress.isDone;
  }

  async #report(
    { metadata: { name = "" } }: CustomResourceDefinition,
    { condition, isDone }: DeletionProgress,
  ): Promise<void> {
    const now = formatTime(this.#parts.clock.nowMs());
    const transform = (old: KubeObject): CustomResourceDefinition => {
      const { metadata, status: before = emptyStatus, ...rest } = old as CustomResourceDefinition;
      const status = { ...before };
      setCondition(status, condition, now);
      const finalizers = (metadata.finalizers ?? []).filter((one) => !isDone || one !== cleanupFinalizer);
      return { ...rest, metadata: { ...metadata, finalizers }, status };
    };
    const options = { strategy: cleanupStrategy, subresource: "status", reapplies: true };
    await this.#registry.update("", name, transform, apiServerContext, options);
  }

  /** Retries the definitions of a group that lack some of their names. */
  #requeueWaiting(group: string): void {
    for (const member of this.#members(group)) if (member.awaitsNames) this.#requeue(this.prefix + member.name);
  }

  /** The accepted names of the other definitions of its group. */
  #namesBeside({ metadata, spec }: CustomResourceDefinition): AcceptedNames[] {
    return this.#members(spec.group)
      .filter(({ name }) => name !== metadata.name)
      .map(({ names }) => names);
  }

  #members(group: string): CustomDefinition[] {
    return this.#registry.cacher
      .entries()
      .map(readDefinition)
      .filter((definition) => definition.group === group);
  }
}
