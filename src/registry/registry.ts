import { decodeEntry } from "../api/codec/stored-object.ts";
import type { Entry, Key } from "../api/entry.ts";
import type { GroupResource } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { status } from "../api/status.ts";
import type { Cacher } from "../storage/cacher/cacher.ts";
import type { Store } from "../storage/store.ts";
import type { Admission } from "./admission.ts";
import { type CreateOptions, createObject } from "./create.ts";
import { deleteObject } from "./delete.ts";
import type { FieldOwnership } from "./field-ownership.ts";
import { attemptOnNewest } from "./newest-state.ts";
import { namedRevision } from "./resource-version.ts";
import { type RegistryParts, StoredKind } from "./stored-kind.ts";
import type { DeleteOptions, Strategy } from "./strategy.ts";
import { absent } from "./unreadable.ts";
import { refuseAbsentUid, type Transform, type UpdateOptions, updateObject } from "./update.ts";
import type { DeleteResult, WriteContext, WriteResult } from "./write-context.ts";

/** Limit of the attempts of a guarded write before it is reported as a conflict. */
const guardedTriesMax = 50;

/** The generic verbs of one resource: one instance per ResourceInfo, shared by all requests. */
export class Registry {
  readonly info: ResourceInfo;
  readonly strategy: Strategy;
  /** The store of this resource's objects. Revisions are the store's own. */
  readonly store: Store;
  readonly cacher: Cacher;
  readonly ownership: FieldOwnership;
  readonly #kind: StoredKind;
  readonly #parts: RegistryParts;

  constructor(parts: RegistryParts) {
    this.info = parts.info;
    this.strategy = parts.strategy;
    this.store = parts.store;
    this.cacher = parts.cacher;
    this.#kind = new StoredKind(parts);
    this.ownership = this.#kind.ownership;
    this.#parts = parts;
  }

  keyOf(namespace: string, name: string): Key {
    return this.#kind.keyOf(namespace, name);
  }

  /** @param asked the resource of the request, whose group may differ from the stored one */
  ref(name: string, asked?: GroupResource): GroupResource & { name: string } {
    return this.#kind.ref(name, asked);
  }

  /** Decodes the newest state. Only writers need it: readers send the entry's bytes. */
  current(namespace: string, name: string): KubeObject | undefined {
    const entry = this.store.get(this.keyOf(namespace, name));
    return entry === undefined ? undefined : decodeEntry(entry, this.info);
  }

  /**
   * Creates an object.
   * @throws StatusError 409 AlreadyExists, 422 Invalid, and any refusal of admission
   */
  create(
    object: KubeObject,
    namespace: string,
    context: WriteContext,
    options: CreateOptions = {},
  ): Promise<WriteResult> {
    const create = () => createObject(this.#kind, object, namespace, context, options);
    return this.#parts.creations?.run(create) ?? create();
  }

  /**
   * Replaces the stored state by the result of `transform`, unless it has changed meanwhile. A resourceVersion in the
   * result is the writer's guard: if it differs from the stored one, the write is a conflict. Without a guard the
   * transform runs again on the newer state, so no update is lost.
   * @throws StatusError 404, 409 Conflict, 422 Invalid
   */
  update(
    namespace: string,
    name: string,
    transform: Transform,
    context: WriteContext,
    options: UpdateOptions = {},
  ): Promise<WriteResult> {
    const attempt = async (entry: Entry | undefined) => {
      if (entry === undefined) throw this.#absent(namespace, name, context);
      return updateObject(this.#kind, entry, namespace, transform, context, options);
    };
    return this.#repeated({ namespace, name }, context, attempt, isWritten);
  }

  /**
   * Replaces the object by the result of `make`, or creates it if it does not exist.
   * @throws StatusError 409 Conflict, 422 Invalid, and any refusal
   */
  upsert(
    namespace: string,
    name: string,
    make: (old: KubeObject | undefined) => KubeObject | Promise<KubeObject>,
    context: WriteContext,
    options: UpdateOptions & CreateOptions,
  ): Promise<WriteResult> {
    const attempt = async (entry: Entry | undefined) => {
      if (entry !== undefined) return updateObject(this.#kind, entry, namespace, make, context, options);
      if (this.store.corruptAt(this.keyOf(namespace, name)) !== undefined) throw this.#absent(namespace, name, context);
      const object = await make(undefined);
      if (options.reapplies !== true)
        refuseAbsentUid(object, this.keyOf(namespace, name), this.ref(name, context.version), context);
      namedRevision(object.metadata.resourceVersion ?? "");
      // A version has no meaning for an object that does not exist. A dry run shows it nevertheless.
      if (!context.dryRun) delete object.metadata.resourceVersion;
      return this.create(object, namespace, context, options);
    };
    return this.#repeated({ namespace, name }, context, attempt, isWritten);
  }

  /**
   * Deletes an object.
   * @param admission replaces the registry's chain
   * @throws StatusError 404, 409 for a failed precondition
   */
  delete(
    namespace: string,
    name: string,
    options: DeleteOptions,
    context: WriteContext,
    admission?: Admission,
  ): Promise<DeleteResult> {
    const attempt = async (entry: Entry | undefined) => {
      if (entry === undefined) throw this.#absent(namespace, name, context);
      return deleteObject(this.#kind, entry, namespace, options, context, admission);
    };
    return this.#repeated({ namespace, name }, context, attempt, isDeleted);
  }

  async #repeated<Result>(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    { version }: WriteContext,
    attempt: (entry: Entry | undefined) => Promise<Result | undefined>,
    changes: (result: Result, before: Entry | undefined) => boolean,
  ): Promise<Result> {
    const key = this.keyOf(namespace, name);
    for (let tries = 1; ; tries++) {
      const result = await attemptOnNewest(this.store, key, attempt, changes);
      if (result !== undefined) return result;
      if (tries === guardedTriesMax) throw status.staleResourceVersion(this.ref(name, version));
    }
  }

  #absent(namespace: string, name: string, { version }: WriteContext): Error {
    return absent(this.#kind, { namespace, name }, version);
  }
}

function isWritten({ entry, removed }: WriteResult, before: Entry | undefined): boolean {
  return entry !== before || removed;
}

function isDeleted({ removed, answer }: DeleteResult, before: Entry | undefined): boolean {
  return removed || answer.kind === "status" || answer.entry !== before;
}
