import type { Entry, Key } from "../api/entry.ts";
import { fieldError } from "../api/field-error.ts";
import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { hasGivenEmpty } from "../api/schema/given-empty.ts";
import { type ObjectRef, type StatusError, status } from "../api/status.ts";
import { validateObjectMetaUpdate } from "../api/validation/object-meta.ts";
import type { Eventual } from "../process/eventual.ts";
import { uidOf } from "../storage/object-uid.ts";
import { copyObject } from "./copy-object.ts";
import { judgeObject } from "./judge-object.ts";
import { namedRevision } from "./resource-version.ts";
import { type StoredKind, withRevision } from "./stored-kind.ts";
import type { Strategy } from "./strategy.ts";
import { carrySystemFields } from "./system-fields.ts";
import { isUnchanged } from "./unchanged.ts";
import { takeSteps, Write, type WriteOptions, type WriteStep, writeSteps } from "./write.ts";
import type { WriteContext, WriteResult } from "./write-context.ts";

/** Makes the new state from the stored one. Called again with a newer `old` when another writer was faster. */
export type Transform = (old: KubeObject) => Eventual<KubeObject>;

export interface UpdateOptions extends WriteOptions {
  /**
   * True if the transform builds on `old` (a patch), so that the resourceVersion it carries along does not guard the
   * write.
   */
  readonly reapplies?: boolean;
  /**
   * True if the transform neither changes `old` nor reuses parts of it, so that it gets the object itself instead of a
   * copy.
   */
  readonly makesAnew?: boolean;
}

/** A write that has an object to replace. */
type Replacement = Write & { readonly old: KubeObject; sentChange?: boolean };

/** Steps of an object that replaces the stored one. */
const steps: readonly WriteStep[] = [
  ({ object, old }) => carrySystemFields(object, old as KubeObject),
  writeSteps.applyDefaults,
  writeSteps.measure,
  writeSteps.prepareTracking,
  writeSteps.trackFields,
  compareSent,
  writeSteps.dropGatedFields,
  restoreFields,
  writeSteps.admit,
  writeSteps.dropRepeatedOwners,
  allocate,
  prepare,
  countGeneration,
  writeSteps.canonicalise,
  refuseInvalid,
  writeSteps.warn,
  writeSteps.judge,
  writeSteps.applyDefaultsAgain,
  writeSteps.complete,
];

/** Makes one guarded attempt; returns undefined if another writer was faster and the caller has to retry. */
export async function updateObject(
  kind: StoredKind,
  entry: Entry,
  namespace: string,
  transform: Transform,
  context: WriteContext,
  options: UpdateOptions,
): Promise<WriteResult | undefined> {
  const { strategy = kind.parts.strategy, reapplies = false, makesAnew = false } = options;
  const decoded = kind.decode(entry, context.signal);
  const old = decoded instanceof Promise ? await decoded : decoded;
  const object = await transform(makesAnew ? old : copyObject(old));
  const guarded = checkGuards(kind, object, entry, { strategy, reapplies, context });
  const write = new Write(kind, { object, old, namespace }, context, options) as Replacement;
  return write.settlement.run(
    async () => {
      await takeSteps(steps, write);
      return replace(write, entry, guarded);
    },
    (result) => result?.entry !== undefined && result.entry !== entry,
  );
}

async function replace(
  { kind, object, old, context, premises }: Replacement,
  entry: Entry,
  guarded: boolean,
): Promise<WriteResult | undefined> {
  const ref = kind.ref(old.metadata.name ?? "", context.version);
  // A dry run shows the link, which no store keeps.
  if (!context.dryRun) delete object.metadata.selfLink;
  if (isUnchanged(object, old) && kind.isCurrent(entry)) return { object: old, entry, created: false, removed: false };
  if (finishesDeletion(object, kind.parts.strategy)) {
    if (context.dryRun || (await kind.remove(entry, context)) !== undefined) {
      return { object, entry: undefined, created: false, removed: true };
    }
    if (guarded) throw status.staleResourceVersion(ref);
    return undefined;
  }
  if (context.dryRun) return { object, entry: undefined, created: false, removed: false };
  const applied = await kind.put(object, entry.key, entry, context, premises);
  if (applied.kind === "applied") {
    const stored = withRevision(object, applied.entry);
    kind.keepDecoded(entry, applied.entry, stored);
    return { object: stored, entry: applied.entry, created: false, removed: false };
  }
  if (applied.current === undefined) throw status.notFound(ref);
  if (guarded) throw status.staleResourceVersion(ref);
  return undefined;
}

/** Reports whether the update completes a deletion: the last finalizer is gone, and the grace period is over. */
function finishesDeletion(object: KubeObject, strategy: Strategy): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) !== 0) return false;
  if ((finalizers ?? []).length > 0) return false;
  return !(strategy.holdsDeletion?.(object) ?? false);
}

/** Prefix that the messages of dry runs omit from keys. */
const registryPrefix = /^\/registry(?=\/)/;

/**
 * Rejects a write that names a uid, and so means an existing object, if there is none.
 * @throws StatusError 409
 */
export function refuseAbsentUid(
  { metadata: { uid = "" } }: KubeObject,
  key: Key,
  ref: ObjectRef,
  { dryRun }: WriteContext,
): void {
  if (uid !== "") throw uidConflict(ref, dryRun ? key.replace(registryPrefix, "") : key, uid, "");
}

function uidConflict(ref: ObjectRef, key: string, asked: string, held: string): StatusError {
  return status.conflict(
    ref,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${asked}, UID in object meta: ${held}`,
  );
}

/** Checks the writer's guards. Returns true if the writer named the version that it has read. */
function checkGuards(
  kind: StoredKind,
  object: KubeObject,
  entry: Entry,
  { strategy, reapplies, context }: { strategy: Strategy; reapplies: boolean; context: WriteContext },
): boolean {
  const { info } = kind;
  const { resourceVersion = "", uid = "", name = "" } = object.metadata;
  if (!reapplies && uid !== "" && uid !== uidOf(entry)) {
    const key = context.dryRun ? entry.key.replace(registryPrefix, "") : entry.key;
    throw uidConflict(kind.ref(name, context.version), key, uid, uidOf(entry));
  }
  const revision = namedRevision(resourceVersion);
  if (reapplies && revision === entry.revision) return false;
  if (revision === 0) {
    if (strategy.allowUnconditionalUpdate) return false;
    throw status.invalid({ group: info.group, kind: info.resource, name }, [
      fieldError.invalid("metadata.resourceVersion", 0, "must be specified for an update"),
    ]);
  }
  if (revision !== entry.revision) throw status.staleResourceVersion(kind.ref(name, context.version));
  return true;
}

function restoreFields(write: Write): void {
  const { object, old, strategy } = write as Replacement;
  for (const name of strategy.resetFields) {
    if (old[name] === undefined) delete object[name];
    else object[name] = old[name];
  }
}

function allocate(write: Write): Promise<void> | void {
  const { kind, object, old, subresource, context, settlement } = write as Replacement;
  if (subresource !== "") return;
  return kind.parts.allocator?.beforeUpdate(object, old, { dryRun: context.dryRun, onSettled: settlement.add });
}

function prepare(write: Write): void {
  const { kind, object, old, strategy } = write as Replacement;
  strategy.prepareForUpdate(object, old, kind.parts.clock.nowMs());
}

/** Some kinds count what the client sends, fields included that are dropped afterwards. */
function compareSent(write: Write): void {
  const replacement = write as Replacement;
  if (replacement.strategy.countsDroppedFields === true) replacement.sentChange = hasChange(replacement);
}

function countGeneration(write: Write): void {
  const { object, old, strategy, sentChange = false } = write as Replacement;
  const changed = sentChange || hasChange(write as Replacement);
  if (old.metadata.generation === undefined && !changed) return;
  if (strategy.generationFields.length === 0) return;
  object.metadata.generation = (old.metadata.generation ?? 0) + (changed ? 1 : 0);
}

/** Reports a change of a field that the generation counts. */
function hasChange({ object, old, strategy: { generationFields, countsEmptyFields } }: Replacement): boolean {
  if (generationFields === "all") {
    return contentOf(object, old).some((name) => !equalJson(fieldIn(object, name), fieldIn(old, name)));
  }
  return generationFields.some((path) => {
    const value = valueAt(object, path);
    return !equalJson(value, valueAt(old, path)) || (countsEmptyFields === true && hasGivenEmpty(value));
  });
}

function refuseInvalid(write: Write): Promise<void> | void {
  const { kind, object, old, strategy } = write as Replacement;
  const rules = { ...kind.metaRules(object), repeats: strategy.metaRules ?? "both" };
  return judgeObject(write, validateObjectMetaUpdate(object.metadata, old.metadata, rules));
}

/** Returns the names of the fields of either object except its metadata. */
function contentOf(object: KubeObject, old: KubeObject): string[] {
  return Object.keys({ ...old, ...object }).filter((name) => name !== "metadata");
}

function fieldIn(object: KubeObject, name: string): JsonValue | undefined {
  return (object as unknown as JsonObject)[name];
}

/** Returns the value at a dotted path. */
function valueAt(object: KubeObject, path: string): JsonValue | undefined {
  let value = object as unknown as JsonValue | undefined;
  for (const name of path.split(".")) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}
