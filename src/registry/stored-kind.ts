import { prepareEntry } from "../api/codec/prepare-entries.ts";
import { decodeBodyInSteps, decodeEntry } from "../api/codec/stored-object.ts";
import type { Entry, Key } from "../api/entry.ts";
import type { FieldError } from "../api/field-error.ts";
import { apiVersionOf, type GroupResource } from "../api/gvk.ts";
import type { SignalSource } from "../api/joint-call.ts";
import type { JsonObject } from "../api/json.ts";
import { ordinaryBytesMax } from "../api/object-extent.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { GatedFields } from "../api/schema/gated-fields.ts";
import type { ResourceInfo } from "../api/scheme/resource.ts";
import { withType } from "../api/scheme/with-type.ts";
import { status } from "../api/status.ts";
import { fieldErrorsMax } from "../api/validation/labels.ts";
import type { ObjectMetaRules } from "../api/validation/object-meta.ts";
import type { Clock } from "../process/clock.ts";
import { type Eventual, followedBy } from "../process/eventual.ts";
import { runSliced } from "../process/sliced.ts";
import { nextTurn } from "../process/turn.ts";
import type { Cacher } from "../storage/cacher/cacher.ts";
import { encodeForStore } from "../storage/encode-for-store.ts";
import { splitAtResourceVersion } from "../storage/resource-version-gap.ts";
import type { ApplyResult, Command, Operation, Store } from "../storage/store.ts";
import type { Admission, FindPremise } from "./admission.ts";
import type { Allocator } from "./allocator.ts";
import type { DeclarativeValidation } from "./declarative/declarative-validation.ts";
import { DecodedBodies } from "./decoded-bodies.ts";
import { type FieldFilterFinder, FieldOwnership } from "./field-ownership.ts";
import type { Gate } from "./gate.ts";
import type { RandomInt } from "./random-name.ts";
import { type RequestLifetime, refuseAbandoned } from "./request-lifetime.ts";
import type { StoreObserver, StoreOperation } from "./store-observer.ts";
import type { Strategy } from "./strategy.ts";
import type { WriteRule } from "./write-rule.ts";

export interface RegistryParts {
  /** Form of objects in requests: the stored one, or a version with rules of its own. */
  readonly info: ResourceInfo;
  /** Form in which objects are stored; `info` by default. */
  readonly storage?: ResourceInfo;
  /** Served versions that share this form; by default `info` alone. */
  readonly versions?: readonly ResourceInfo[];
  readonly strategy: Strategy;
  readonly store: Store;
  readonly cacher: Cacher;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly randomInt: RandomInt;
  readonly newUid?: (() => string) | undefined;
  /** Rules that types declare, beside those of the Strategy; by default with every feature gate on. */
  readonly declarative?: DeclarativeValidation | undefined;
  /** Fields that cannot be written; by default none. */
  readonly gatedFields?: GatedFields | undefined;
  /** Delays creations; by default nothing does. */
  readonly creations?: Gate | undefined;
  /** Returns the fields that writers through each path can own; by default all. */
  readonly ownedFields?: FieldFilterFinder | undefined;
  /** Allocator of unique values, for resources that need them. */
  readonly allocator?: Allocator | undefined;
  /** Rule about writes that depends on other objects; by default none. */
  readonly writeRule?: WriteRule | undefined;
  readonly observer?: StoreObserver | undefined;
}

/** Limit of a stored object, however it was made: many small patches must not add up to more than one body may have. */
export const objectBytesMax = 2 * 1024 * 1024;

/** Shared by all kinds, so that its limit is the limit of the process. */
const bodies = new DecodedBodies();
/** Limit of the attempts to store an object while those that it depends on keep changing. */
const premiseTriesMax = 50;

export type PutResult = Exclude<ApplyResult, { readonly kind: "outdated" }>;

/** Parts that all writes to one kind share, and the conversion of its objects to and from the store. */
export class StoredKind {
  readonly parts: RegistryParts;
  readonly info: ResourceInfo;
  readonly store: Store;
  readonly ownership: FieldOwnership;

  constructor(parts: RegistryParts) {
    this.parts = parts;
    this.info = parts.info;
    this.store = parts.store;
    this.ownership = new FieldOwnership(parts.versions ?? [parts.info], parts.ownedFields ?? (() => undefined));
  }

  keyOf(namespace: string, name: string): Key {
    return this.info.namespaced ? `${this.info.keyPrefix}${namespace}/${name}` : this.info.keyPrefix + name;
  }

  /** @param asked the resource of the request, whose group may differ from the stored one */
  ref(name: string, { group, resource }: GroupResource = this.info): GroupResource & { name: string } {
    return { group, resource, name };
  }

  metaRules(object: KubeObject): ObjectMetaRules {
    const { info, strategy } = this.parts;
    return {
      namespaced: info.namespaced,
      validateName: (name) => strategy.validateName(name, object),
      validatesPrefix: strategy.validatesPrefix !== false,
      qualifiesFinalizers: strategy.allowsBareFinalizers !== true,
    };
  }

  /**
   * Rejects an object with errors.
   * @throws StatusError 422
   */
  refuseInvalid(object: KubeObject, errors: readonly FieldError[]): void {
    if (errors.length === 0) return;
    const { group, kind } = this.info;
    throw status.invalid({ group, kind, name: object.metadata.name ?? "" }, errors.slice(0, fieldErrorsMax));
  }

  /**
   * Decodes an entry to the stored form, converting objects that were written when another version was stored. A
   * large object is returned in a later turn, because the caller has more to do with it.
   * @throws StatusError when the converter fails, also as a rejection
   */
  decode(entry: Entry, signalOf?: SignalSource): Eventual<KubeObject> {
    const { info } = this;
    return followedBy(prepareEntry(entry, info, signalOf), (prepared) => {
      const typed = (body: JsonObject) =>
        ({ kind: info.kind, apiVersion: apiVersionOf(info), ...body }) as unknown as KubeObject;
      if (prepared.body.byteLength <= ordinaryBytesMax) return typed(bodies.of(prepared));
      return followedBy(runSliced(decodeBodyInSteps(prepared)), (body) => nextTurn().then(() => typed(body)));
    });
  }

  /** Notes that an update has stored the object, with its new resourceVersion, as this entry in place of another. */
  keepDecoded(before: Entry, entry: Entry, object: KubeObject): void {
    const { info, storage = info } = this.parts;
    if (storage === info) bodies.replace(before, entry, object);
  }

  /** Reports whether the entry is stored as it would be written now. An update without changes rewrites others. */
  isCurrent(entry: Entry): boolean {
    const { storage = this.info } = this.parts;
    if (this.store.isStale(entry)) return false;
    if (storage.converter === undefined) return true;
    return entry.index.apiVersion === apiVersionOf(storage) && storage.converter.servesBody(entry, storage);
  }

  /**
   * Brings an object into canonical order, with zero values as on the wire, so that equal objects have equal bytes.
   * Takes over its argument. Nulls that are left are for the validation to refuse.
   * @param old the stored object. Its parts that the object has kept are canonical
   */
  canonical(object: KubeObject, old?: KubeObject): KubeObject {
    const { info } = this;
    const settled = old as unknown as JsonObject | undefined;
    const options = { kind: info.kind, takesOver: true, keepsNulls: true, settled };
    const { object: canonical } = info.form.decode(object as unknown as JsonObject, options);
    return withType(canonical, info);
  }

  /**
   * Stores the object if its entry has not changed since it was read; undefined means that there was none. Stores
   * nothing once the client has gone: an interrupted webhook may have let the request pass.
   * @param premises called again if the objects that they found have changed meanwhile
   * @throws StatusError of a premise
   */
  async put(
    object: KubeObject,
    key: Key,
    before: Entry | undefined,
    request: RequestLifetime,
    premises: readonly FindPremise[] = [],
  ): Promise<PutResult> {
    const { clock, storage = this.info } = this.parts;
    const { converter } = storage;
    const converted = storage === this.info ? undefined : converter?.forStorage(object, storage, request.signal);
    const operation = putOf(converted === undefined ? object : await converted, storage, this.info);
    refuseAbandoned(request, clock);
    const expect: Command["expect"] =
      before === undefined ? { kind: "absent" } : { kind: "revision", revision: before.revision };
    const verb = before === undefined ? "create" : "update";
    if (premises.length === 0) return (await this.#commit({ key, expect, operation }, verb)) as PutResult;
    for (let tries = 1; tries <= premiseTriesMax; tries++) {
      const found = premises.map((find) => find());
      const result = await this.#commit({ key, expect, premises: found, operation }, verb);
      if (result.kind !== "outdated") return result;
    }
    throw status.staleResourceVersion(this.ref(object.metadata.name ?? ""));
  }

  /** Returns undefined if the entry has changed since it was read. Removes nothing once the client has gone. */
  async remove(entry: Entry, request: RequestLifetime): Promise<Entry | undefined> {
    refuseAbandoned(request, this.parts.clock);
    const command: Command = {
      key: entry.key,
      expect: { kind: "revision", revision: entry.revision },
      operation: { kind: "delete", last: splitAtResourceVersion(entry.body) },
    };
    const applied = await this.#commit(command, "delete");
    if (applied.kind !== "applied") return undefined;
    await this.parts.allocator?.afterDelete(decodeEntry(applied.entry, this.info));
    return applied.entry;
  }

  async #commit(command: Command, operation: StoreOperation): Promise<ApplyResult> {
    const { observer } = this.parts;
    const startedMs = performance.now();
    let hasFailed = true;
    try {
      const result = await this.store.commit(command);
      hasFailed = false;
      return result;
    } finally {
      observer?.written(operation, (performance.now() - startedMs) / 1_000, hasFailed);
    }
  }
}

/** Returns the object as stored, with its new revision. */
export function withRevision(object: KubeObject, entry: Entry): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(entry.revision) } };
}

/**
 * Makes the write that stores the object.
 * @throws StatusError 413 when it is too large for the store
 */
function putOf(object: KubeObject, storage: ResourceInfo, written: ResourceInfo): Operation {
  const { index, body } = encodeForStore(object, storage, written);
  if (body.prefix.length + body.suffix.length > objectBytesMax) throw status.requestEntityTooLarge(objectBytesMax);
  return { kind: "put", index, body };
}
