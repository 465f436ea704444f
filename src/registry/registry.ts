import type { Admission, AdmissionAttributes } from "./admission.ts";
import type { Clock } from "../process/clock.ts";
import { formatTime } from "../api/time.ts";
import { type FieldError, fieldError } from "../api/field-error.ts";
import { apiVersionOf, type GroupResource } from "../api/gvk.ts";
import { cloneJson, equalJson, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { StatusError, status } from "../api/status.ts";
import { nextTurn } from "../api/turn.ts";
import type { UserInfo } from "../request/user-info.ts";
import type { Cacher } from "../storage/cacher/cacher.ts";
import { decodeEntry } from "../api/codec/stored-object.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { decodeTyped } from "../api/schema/decode.ts";
import { applyDefaults } from "../api/schema/defaults.ts";
import type { GatedFields } from "../api/schema/gated-fields.ts";
import { splitAtResourceVersion } from "../storage/resource-version-gap.ts";
import type { ApplyResult, Operation, Store } from "../storage/store.ts";
import type { Entry, Key } from "../api/entry.ts";
import type { Allocator } from "./allocator.ts";
import { beginDeletion, checkDeletePreconditions, type DeleteResult, deletionResult } from "./deletion.ts";
import { attemptOnNewest } from "./newest-state.ts";
import { objectProblems } from "./object-problems.ts";
import { generatedName, type RandomInt } from "./random-name.ts";
import type { DeclarativeValidation } from "./declarative/declarative-validation.ts";
import { encodeForStore } from "./encode-for-store.ts";
import type { InFlight } from "./in-flight.ts";
import { Settlement } from "./settlement.ts";
import type { DeleteOptions, Strategy } from "./strategy.ts";
import { isLargeObject } from "./large-object.ts";
import { carrySystemFields, wipeSystemFields } from "./system-fields.ts";
import { trackFields } from "./track-fields.ts";
import { fieldErrorsMax } from "../api/validation/labels.ts";
import { type ObjectMetaRules, validateObjectMeta, validateObjectMetaUpdate } from "../api/validation/object-meta.ts";
import { isUnchanged } from "./unchanged.ts";
import { absent } from "./unreadable.ts";

/** What a write carries besides the object. */
export interface WriteContext {
  readonly user: UserInfo;
  /** Owner of the changed fields in managedFields. */
  readonly manager: string;
  readonly dryRun: boolean;
  /** The version that the writer uses, when it is not the stored one. */
  readonly version?: ResourceInfo | undefined;
  warn(text: string): void;
  /** Adds an annotation to the audit event of the request. */
  annotate?(key: string, value: string): void;
}

/** The outcome of a write. `entry` is undefined for a dry run: then only the decoded object exists. */
export interface WriteResult {
  readonly object: KubeObject;
  readonly entry: Entry | undefined;
  readonly created: boolean;
  /** The last write removed the object (its last finalizer is gone). */
  readonly removed: boolean;
}

export interface RegistryParts {
  /** The stored form: objects come and go in it, whatever version a client uses. */
  readonly info: ResourceInfo;
  /** All served versions that share this form; default: `info` alone. */
  readonly versions?: readonly ResourceInfo[];
  readonly strategy: Strategy;
  readonly store: Store;
  readonly cacher: Cacher;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly randomInt: RandomInt;
  readonly newUid?: (() => string) | undefined;
  /** Rules that types declare, beside those of the Strategy; default: none. */
  readonly declarative?: DeclarativeValidation | undefined;
  /** Fields that cannot be written; default: none. */
  readonly gatedFields?: GatedFields | undefined;
  /** Counts creations from before they are admitted until they are stored; default: nobody asks. */
  readonly creations?: InFlight | undefined;
  /** For resources whose objects need something unique. */
  readonly allocator?: Allocator | undefined;
}

/** A collision on a generated name is retried this often; with 27^5 names the ninth is somebody's bug. */
const generateNameTriesMax = 8;
/** A stored object, however it has grown: many small patches must not add up to more than one body may hold. */
export const objectBytesMax = 2 * 1024 * 1024;
/** Writes of others between our read and our write, before we report them as a conflict. */
const guardedUpdateTriesMax = 50;

/** Makes the new state out of the stored one. Called again with a newer `old` when another writer was faster. */
export type Transform = (old: KubeObject) => KubeObject | Promise<KubeObject>;

export interface UpdateOptions {
  /** Rules of the subresource that the write goes through; the resource's own by default. */
  readonly strategy?: Strategy;
  readonly subresource?: string;
  /** The transform builds on `old` (a patch): the resourceVersion that it carries along from there is no guard. */
  readonly reapplies?: boolean;
  /** The transform leaves `old` as it is and takes nothing of it over: it gets the object itself, not a copy. */
  readonly makesAnew?: boolean;
  /** Judges the write instead of the registry's chain: where another document than the object is written. */
  readonly admission?: Admission;
}

/** The generic verbs of one resource: one instance per ResourceInfo, shared by all requests. */
export class Registry {
  readonly info: ResourceInfo;
  readonly strategy: Strategy;
  readonly cacher: Cacher;
  readonly #parts: RegistryParts;

  constructor(parts: RegistryParts) {
    this.info = parts.info;
    this.strategy = parts.strategy;
    this.cacher = parts.cacher;
    this.#parts = parts;
  }

  keyOf(namespace: string, name: string): Key {
    return this.info.namespaced ? `${this.info.keyPrefix}${namespace}/${name}` : this.info.keyPrefix + name;
  }

  /** The newest state, decoded. Only writers need it: readers send the entry's bytes. */
  current(namespace: string, name: string): KubeObject | undefined {
    const entry = this.#parts.store.get(this.keyOf(namespace, name));
    return entry === undefined ? undefined : decodeEntry(entry, this.info);
  }

  ref(name: string): GroupResource & { name: string } {
    return { group: this.info.group, resource: this.info.resource, name };
  }

  /** @throws StatusError 409 AlreadyExists, 422 Invalid, and whatever admission refuses with */
  create(object: KubeObject, namespace: string, context: WriteContext): Promise<WriteResult> {
    const create = () => this.#create(object, namespace, context);
    return this.#parts.creations?.run(create) ?? create();
  }

  async #create(object: KubeObject, namespace: string, context: WriteContext): Promise<WriteResult> {
    const { info, strategy, clock, admission } = this.#parts;
    if ((object.metadata.resourceVersion ?? "") !== "") {
      throw status.unconverted("resourceVersion should not be set on objects to be created");
    }
    wipeSystemFields(object);
    applyDefaults(info.schema, object as unknown as JsonObject);
    const isLarge = isLargeObject(object);
    if (isLarge) await nextTurn();
    this.#dropGated(object, undefined);
    this.#dropFields(object, strategy.resetFields);
    const trackFields = this.#trackFields(undefined, object, "", context, strategy.resetFields);
    if (isLarge) await nextTurn();
    trackFields();
    if (isLarge) await nextTurn();
    const settlement = new Settlement();
    const attributes = this.#attributes("CREATE", "", object, undefined, namespace, context, settlement);
    await admission.admit(attributes);

    const { metadata } = object;
    metadata.uid = this.#parts.newUid?.() ?? crypto.randomUUID();
    metadata.creationTimestamp = formatTime(clock.nowMs());
    if (strategy.generationFields.length > 0) metadata.generation = 1;
    const generate = (metadata.name ?? "") === "" && (metadata.generateName ?? "") !== "";
    for (let tries = 1; ; tries++) {
      // A Strategy may copy the name into other fields, so each generated one gets a draft of its own.
      const draft = generate ? (cloneJson(object as unknown as JsonObject) as unknown as KubeObject) : object;
      if (generate && isLarge) await nextTurn();
      if (generate) draft.metadata.name = generatedName(metadata.generateName as string, this.#parts.randomInt);
      strategy.prepareForCreate(draft, context.user);
      const { canonical, result } = await settlement.run(
        () => this.#tryCreate(draft, attributes, settlement, context, isLarge),
        (attempt) => attempt.result.kind === "applied",
      );
      if (result.kind === "applied") {
        return {
          object: this.#withRevision(canonical, result.entry),
          entry: result.entry,
          created: true,
          removed: false,
        };
      }
      if (result.kind === "dryRun") return { object: canonical, entry: undefined, created: true, removed: false };
      const name = draft.metadata.name ?? "";
      if (!generate) throw this.#alreadyExists(name, result.current);
      if (tries === generateNameTriesMax) throw status.generateNameExhausted(this.ref(name));
    }
  }

  /**
   * Replaces the stored state by what `transform` makes of it; the write holds only if nobody wrote in between.
   * A resourceVersion in the result is the writer's guard: another one than the stored is a conflict. Without a guard
   * the transform runs again on the newer state, so no update is lost.
   * @throws StatusError 404, 409 Conflict, 422 Invalid
   */
  async update(
    namespace: string,
    name: string,
    transform: Transform,
    context: WriteContext,
    options: UpdateOptions = {},
  ): Promise<WriteResult> {
    const { store } = this.#parts;
    const attempt = async (entry: Entry | undefined) => {
      if (entry === undefined) throw absent(this, store, namespace, name);
      return this.#tryUpdate(entry, transform, context, options, namespace);
    };
    const isWritten = ({ entry, removed }: WriteResult, before: Entry | undefined) => entry !== before || removed;
    for (let tries = 1; ; tries++) {
      const result = await attemptOnNewest(store, this.keyOf(namespace, name), attempt, isWritten);
      if (result !== undefined) return result;
      if (tries === guardedUpdateTriesMax) throw status.staleResourceVersion(this.ref(name));
    }
  }

  /** @throws StatusError 404, 409 for a failed precondition */
  async delete(namespace: string, name: string, options: DeleteOptions, context: WriteContext): Promise<DeleteResult> {
    const { store } = this.#parts;
    const attempt = async (entry: Entry | undefined) => {
      if (entry === undefined) throw absent(this, store, namespace, name);
      return this.#tryDelete(entry, namespace, options, context);
    };
    const isWritten = ({ removed, answer }: DeleteResult, before: Entry | undefined) =>
      removed || answer.kind === "status" || answer.entry !== before;
    for (let tries = 1; ; tries++) {
      const result = await attemptOnNewest(store, this.keyOf(namespace, name), attempt, isWritten);
      if (result !== undefined) return result;
      if (tries === guardedUpdateTriesMax) throw status.staleResourceVersion(this.ref(name));
    }
  }

  /** One attempt under one name. */
  async #tryCreate(
    object: KubeObject,
    attributes: AdmissionAttributes,
    settlement: Settlement,
    context: WriteContext,
    isLarge: boolean,
  ): Promise<{ canonical: KubeObject; result: ApplyResult | { kind: "dryRun" } }> {
    const { strategy, admission, allocator } = this.#parts;
    await allocator?.beforeCreate(object, { dryRun: context.dryRun, onSettled: settlement.add });
    const canonical = this.#canonical(object);
    if (isLarge) await nextTurn();
    this.#refuseInvalid(canonical, [
      ...validateObjectMeta(canonical.metadata, this.#metaRules()),
      ...this.#problems(canonical, undefined, strategy, context),
    ]);
    if (isLarge) await nextTurn();
    for (const text of strategy.warnings?.(canonical) ?? []) context.warn(text);
    await admission.validate({ ...attributes, name: canonical.metadata.name ?? "", object: canonical });
    if (isLarge) await nextTurn();
    return { canonical, result: await this.#insert(canonical, attributes.namespace, context) };
  }

  /** One guarded attempt; undefined when another writer came first and the caller has to look again. */
  #tryUpdate(
    entry: Entry,
    transform: Transform,
    context: WriteContext,
    options: UpdateOptions,
    namespace: string,
  ): Promise<WriteResult | undefined> {
    const settlement = new Settlement();
    return settlement.run(
      () => this.#writeUpdate(entry, transform, context, options, namespace, settlement),
      (result) => result?.entry !== undefined && result.entry !== entry,
    );
  }

  async #writeUpdate(
    entry: Entry,
    transform: Transform,
    context: WriteContext,
    options: UpdateOptions,
    namespace: string,
    settlement: Settlement,
  ): Promise<WriteResult | undefined> {
    const { info, allocator } = this.#parts;
    const { strategy = this.strategy, subresource = "", reapplies = false, makesAnew = false } = options;
    const { admission = this.#parts.admission } = options;
    const old = decodeEntry(entry, info);
    const object = await transform(
      makesAnew ? old : (cloneJson(old as unknown as JsonObject) as unknown as KubeObject),
    );
    const guarded = this.#checkGuards(object, entry, strategy, reapplies);
    carrySystemFields(object, old);
    applyDefaults(info.schema, object as unknown as JsonObject);
    const isLarge = isLargeObject(object);
    if (isLarge) await nextTurn();
    this.#dropGated(object, old);
    this.#restoreFields(object, old, strategy.resetFields);
    const trackFields = this.#trackFields(old, object, subresource, context, strategy.resetFields);
    if (isLarge) await nextTurn();
    trackFields();
    if (isLarge) await nextTurn();
    const name = old.metadata.name ?? "";
    const attributes = this.#attributes("UPDATE", subresource, object, old, namespace, context, settlement);
    await admission.admit(attributes);
    if (subresource === "") {
      await allocator?.beforeUpdate(object, old, { dryRun: context.dryRun, onSettled: settlement.add });
    }
    strategy.prepareForUpdate(object, old, this.#parts.clock.nowMs());
    this.#countGeneration(object, old, strategy);
    const canonical = this.#canonical(object);
    if (isLarge) await nextTurn();
    this.#refuseInvalid(canonical, [
      ...validateObjectMeta(canonical.metadata, this.#metaRules()),
      ...validateObjectMetaUpdate(canonical.metadata, old.metadata),
      ...this.#problems(canonical, old, strategy, context),
    ]);
    if (isLarge) await nextTurn();
    for (const text of strategy.warnings?.(canonical, old) ?? []) context.warn(text);
    await admission.validate({ ...attributes, object: canonical });
    if (isLarge) await nextTurn();

    if (isUnchanged(canonical, old)) return { object: old, entry, created: false, removed: false };
    if (this.#finishesDeletion(canonical)) return this.#finishDeletion(canonical, entry, context, guarded);
    if (context.dryRun) return { object: canonical, entry: undefined, created: false, removed: false };
    const applied = await this.#parts.store.commit({
      key: entry.key,
      expect: { kind: "revision", revision: entry.revision },
      operation: putOf(canonical, info),
    });
    if (applied.kind === "applied") {
      return {
        object: this.#withRevision(canonical, applied.entry),
        entry: applied.entry,
        created: false,
        removed: false,
      };
    }
    if (guarded || applied.current === undefined) throw this.#lost(applied.current, name);
    return undefined;
  }

  async #tryDelete(
    entry: Entry,
    namespace: string,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<DeleteResult | undefined> {
    const { info } = this.#parts;
    const old = decodeEntry(entry, info);
    checkDeletePreconditions(old, options, info);
    const settlement = new Settlement();
    const attributes = this.#attributes("DELETE", "", undefined, old, namespace, context, settlement);
    return settlement.run(
      () => this.#writeDelete(entry, old, attributes, options, context),
      (result) => result?.removed === true && !context.dryRun,
    );
  }

  async #writeDelete(
    entry: Entry,
    old: KubeObject,
    attributes: AdmissionAttributes,
    options: DeleteOptions,
    context: WriteContext,
  ): Promise<DeleteResult | undefined> {
    const { info, strategy, store, admission, clock } = this.#parts;
    await admission.admit(attributes);
    await admission.validate(attributes);
    for (const text of strategy.deleteWarnings?.(options) ?? []) context.warn(text);
    const next = beginDeletion(old, strategy, options, clock.nowMs());
    if (next.kind === "unchanged")
      return deletionResult(info, strategy, { object: old, entry, removed: false, options });
    if (next.kind === "remove") {
      if (!context.dryRun) {
        const removed = await this.#remove(entry);
        if (removed === undefined) return undefined;
      }
      return deletionResult(info, strategy, { object: old, entry, removed: true, options });
    }
    const canonical = this.#canonical(next.object);
    if (context.dryRun) {
      return deletionResult(info, strategy, { object: canonical, entry: undefined, removed: false, options });
    }
    const applied = await store.commit({
      key: entry.key,
      expect: { kind: "revision", revision: entry.revision },
      operation: putOf(canonical, info),
    });
    if (applied.kind === "rejected") return undefined;
    const object = this.#withRevision(canonical, applied.entry);
    return deletionResult(info, strategy, { object, entry: applied.entry, removed: false, options });
  }

  /** Undefined when the entry has changed since it was read. */
  async #remove(entry: Entry): Promise<Entry | undefined> {
    const applied = await this.#parts.store.commit({
      key: entry.key,
      expect: { kind: "revision", revision: entry.revision },
      operation: { kind: "delete", last: splitAtResourceVersion(entry.body) },
    });
    if (applied.kind === "rejected") return undefined;
    await this.#parts.allocator?.afterDelete(decodeEntry(applied.entry, this.info));
    return applied.entry;
  }

  async #finishDeletion(
    object: KubeObject,
    entry: Entry,
    context: WriteContext,
    guarded: boolean,
  ): Promise<WriteResult | undefined> {
    if (!context.dryRun && (await this.#remove(entry)) === undefined) {
      if (guarded) throw status.staleResourceVersion(this.ref(object.metadata.name ?? ""));
      return undefined;
    }
    return { object, entry: undefined, created: false, removed: true };
  }

  /** The last finalizer is gone from an object that is being deleted, and no grace is left to wait for. */
  #finishesDeletion(object: KubeObject): boolean {
    const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
    if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) !== 0) return false;
    if ((finalizers ?? []).length > 0) return false;
    return !(this.strategy.holdsDeletion?.(object) ?? false);
  }

  async #insert(
    object: KubeObject,
    namespace: string,
    context: WriteContext,
  ): Promise<ApplyResult | { kind: "dryRun" }> {
    const { store, info } = this.#parts;
    const { name = "" } = object.metadata;
    const key = this.keyOf(namespace, name);
    if (store.corruptAt(key) !== undefined) throw absent(this, store, namespace, name);
    if (context.dryRun) {
      const current = store.get(key);
      return current === undefined ? { kind: "dryRun" } : { kind: "rejected", current };
    }
    return store.commit({
      key,
      expect: { kind: "absent" },
      operation: putOf(object, info),
    });
  }

  /** True when the writer named the version that it has seen. */
  #checkGuards(object: KubeObject, entry: Entry, strategy: Strategy, reapplies: boolean): boolean {
    const { info } = this.#parts;
    const { resourceVersion = "", uid = "", name = "" } = object.metadata;
    if (uid !== "" && uid !== entry.index.uid) {
      throw status.conflict(
        this.ref(name),
        `StorageError: invalid object, Code: 4, Key: ${entry.key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${entry.index.uid}`,
      );
    }
    if (reapplies && resourceVersion === String(entry.revision)) return false;
    if (resourceVersion === "" || resourceVersion === "0") {
      if (strategy.allowUnconditionalUpdate) return false;
      const invalid = status.invalid({ group: info.group, kind: info.resource, name }, [
        fieldError.invalid("metadata.resourceVersion", 0, "must be specified for an update"),
      ]);
      throw invalid;
    }
    if (resourceVersion !== String(entry.revision)) throw status.staleResourceVersion(this.ref(name));
    return true;
  }

  #dropFields(object: KubeObject, fields: readonly string[]): void {
    for (const name of fields) delete object[name];
  }

  #dropGated(object: KubeObject, old: KubeObject | undefined): void {
    const { info, gatedFields } = this.#parts;
    gatedFields?.drop(info.schema, object as unknown as JsonObject, old as unknown as JsonObject | undefined);
  }

  #restoreFields(object: KubeObject, old: KubeObject, fields: readonly string[]): void {
    for (const name of fields) {
      if (old[name] === undefined) delete object[name];
      else object[name] = old[name];
    }
  }

  #trackFields(
    old: KubeObject | undefined,
    object: KubeObject,
    subresource: string,
    context: WriteContext,
    resetFields: readonly string[],
  ): () => void {
    const { info, versions, clock } = this.#parts;
    const version = context.version ?? info;
    return trackFields(old, object, { ...context, subresource, resetFields, version, versions, nowMs: clock.nowMs() });
  }

  #countGeneration(object: KubeObject, old: KubeObject, strategy: Strategy): void {
    const changed = strategy.generationFields.some((path) => !equalJson(valueAt(object, path), valueAt(old, path)));
    if (old.metadata.generation === undefined && !changed) return;
    if (strategy.generationFields.length === 0) return;
    object.metadata.generation = (old.metadata.generation ?? 0) + (changed ? 1 : 0);
  }

  /** Canonical field order, zero values as the wire has them: equal objects have equal bytes. The argument is given away. */
  #canonical(object: KubeObject): KubeObject {
    const { info } = this.#parts;
    const options = { kind: info.kind, takesOver: true };
    const { object: canonical } = decodeTyped(info.schema, object as unknown as JsonObject, options);
    const { kind: _kind, apiVersion: _apiVersion, ...fields } = canonical;
    return { kind: info.kind, apiVersion: apiVersionOf(info), ...fields } as unknown as KubeObject;
  }

  #withRevision(object: KubeObject, entry: Entry): KubeObject {
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(entry.revision) } };
  }

  #metaRules(): ObjectMetaRules {
    const { info, strategy } = this.#parts;
    return {
      namespaced: info.namespaced,
      validateName: strategy.validateName,
      qualifiesFinalizers: strategy.allowsBareFinalizers !== true,
    };
  }

  #problems(
    object: KubeObject,
    old: KubeObject | undefined,
    strategy: Strategy,
    { version = this.info }: WriteContext,
  ): readonly FieldError[] {
    const { info, declarative } = this.#parts;
    return objectProblems(object, old, { strategy, version, info, declarative });
  }

  #refuseInvalid(object: KubeObject, errors: readonly FieldError[]): void {
    if (errors.length === 0) return;
    const { group, kind } = this.info;
    throw status.invalid({ group, kind, name: object.metadata.name ?? "" }, errors.slice(0, fieldErrorsMax));
  }

  #alreadyExists(name: string, current: Entry | undefined): StatusError {
    const deleting = current !== undefined && decodeEntry(current, this.info).metadata.deletionTimestamp !== undefined;
    return deleting ? status.alreadyExistsTerminating(this.ref(name)) : status.alreadyExists(this.ref(name));
  }

  #lost(current: Entry | undefined, name: string): StatusError {
    return current === undefined ? status.notFound(this.ref(name)) : status.staleResourceVersion(this.ref(name));
  }

  #attributes(
    operation: AdmissionAttributes["operation"],
    subresource: string,
    object: KubeObject | undefined,
    oldObject: KubeObject | undefined,
    namespace: string,
    context: WriteContext,
    settlement: Settlement,
  ): AdmissionAttributes {
    const name = (object ?? oldObject)?.metadata.name ?? "";
    return {
      operation,
      info: this.info,
      subresource,
      namespace,
      name,
      object,
      oldObject,
      user: context.user,
      dryRun: context.dryRun,
      warn: context.warn,
      annotate: (key, value) => context.annotate?.(key, value),
      onSettled: settlement.add,
    };
  }
}

/** The write that stores the object. @throws StatusError 413 when it has grown beyond what the store takes */
function putOf(object: KubeObject, info: ResourceInfo): Operation {
  const { index, body } = encodeForStore(object, info);
  if (body.prefix.length + body.suffix.length > objectBytesMax) throw status.requestEntityTooLarge(objectBytesMax);
  return { kind: "put", index, body };
}

/** The value at a dotted path of names. */
function valueAt(object: KubeObject, path: string): JsonValue | undefined {
  let value = object as unknown as JsonValue | undefined;
  for (const name of path.split(".")) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}
