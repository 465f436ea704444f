import { isBeingDeleted } from "../api/codec/stored-metadata.ts";
import type { Entry } from "../api/entry.ts";
import { cloneJson, type JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { type ObjectRef, type StatusError, status } from "../api/status.ts";
import { formatTime } from "../api/time.ts";
import { validateObjectMeta, validatePrefixSegment } from "../api/validation/object-meta.ts";
import { followedBy } from "../process/eventual.ts";
import { nextTurn } from "../process/turn.ts";
import { judgeObject } from "./judge-object.ts";
import { generatedName } from "./random-name.ts";
import { dropRepeatedOwners } from "./repeated-owners.ts";
import { parseResourceVersion } from "./resource-version.ts";
import { type PutResult, type StoredKind, withRevision } from "./stored-kind.ts";
import { wipeSystemFields } from "./system-fields.ts";
import { absent } from "./unreadable.ts";
import { takeSteps, Write, type WriteOptions, type WriteStep, writeSteps } from "./write.ts";
import type { WriteContext, WriteResult } from "./write-context.ts";

/** Limit of the attempts with generated names. With 27^5 names, reaching it means a bug. */
const generateNameTriesMax = 8;

export interface CreateOptions extends Pick<WriteOptions, "tracker" | "subresource"> {
  /** Authorizes the creation, where the verb of the request does not include it. */
  readonly authorize?: () => Promise<void>;
}

/** Steps of a new object before it has its name. */
const preparation: readonly WriteStep[] = [
  ({ object }) => wipeSystemFields(object),
  writeSteps.applyDefaults,
  writeSteps.measure,
  ({ object, context }) => dropRepeatedOwners(object, context.warn, ""),
  writeSteps.prepareTracking,
  writeSteps.trackFields,
  writeSteps.dropGatedFields,
  dropResetFields,
  writeSteps.admit,
  writeSteps.dropRepeatedOwners,
  stamp,
];

/** Steps under each name that is tried. */
const completion: readonly WriteStep[] = [
  ({ object, strategy, context }) => strategy.prepareForCreate(object, context),
  allocate,
  writeSteps.canonicalise,
  refuseInvalid,
  writeSteps.warn,
];

/** Last steps before the object is stored. */
const acceptance: readonly WriteStep[] = [writeSteps.judge, writeSteps.applyDefaultsAgain, writeSteps.complete];

/** Creates an object. @throws StatusError 409 AlreadyExists, 422 Invalid, or the error of an admission plugin */
export async function createObject(
  kind: StoredKind,
  object: KubeObject,
  namespace: string,
  context: WriteContext,
  { authorize, ...options }: CreateOptions,
): Promise<WriteResult> {
  const write = new Write(kind, { object, old: undefined, namespace }, context, {
    ...options,
    strategy: kind.parts.strategy,
  });
  await takeSteps(preparation, write);
  const { metadata } = object;
  const unnamed = (metadata.name ?? "") === "" && (metadata.generateName ?? "") !== "";
  const generates = unnamed && write.strategy.generatesNames !== false;
  if (unnamed && !generates) metadata.name = metadata.generateName as string;
  const named = generates ? namedDrafts(write) : undefined;
  for (let tries = 1; ; tries++) {
    if (named !== undefined) await named();
    const { settlement } = write;
    const result = await settlement.run(
      () => complete(write, authorize),
      (attempt) => attempt.kind === "applied",
    );
    if (result.kind !== "rejected") {
      const entry = result.kind === "applied" ? result.entry : undefined;
      const stored = entry === undefined ? write.object : withRevision(write.object, entry);
      return { object: stored, entry, created: true, removed: false };
    }
    const name = write.object.metadata.name ?? "";
    const ref = kind.ref(name, context.version);
    if (!generates) throw alreadyExists(ref, result.current);
    if (tries === generateNameTriesMax) throw status.generateNameExhausted(ref);
  }
}

/**
 * Returns a step that drafts the object under a new name. A Strategy may copy the name to other fields, so each
 * generated name starts from a fresh draft.
 */
function namedDrafts(write: Write): () => Promise<void> {
  const { object, kind, isLarge } = write;
  return async () => {
    const draft = cloneJson(object as unknown as JsonObject) as unknown as KubeObject;
    if (isLarge) await nextTurn();
    draft.metadata.name = generatedName(object.metadata.generateName as string, kind.parts.randomInt);
    write.object = draft;
  };
}

type Inserted = PutResult | { readonly kind: "dryRun" };

async function complete(write: Write, authorize: CreateOptions["authorize"]): Promise<Inserted> {
  await takeSteps(completion, write);
  await authorize?.();
  await takeSteps(acceptance, write);
  return insert(write);
}

async function insert({ kind, object, namespace, context, premises }: Write): Promise<Inserted> {
  const { store } = kind;
  const { name = "" } = object.metadata;
  const key = kind.keyOf(namespace, name);
  if (store.corruptAt(key) !== undefined) throw absent(kind, { namespace, name }, context.version);
  if (!context.dryRun) {
    refuseResourceVersion(object);
    return kind.put(object, key, undefined, context, premises);
  }
  const current = store.get(key);
  return current === undefined ? { kind: "dryRun" } : { kind: "rejected", current };
}

/**
 * Rejects a resourceVersion that is a revision. Only a real write does so, as in upstream's store; a dry run passes.
 * @throws StatusError 500 without a reason
 */
function refuseResourceVersion({ metadata }: KubeObject): void {
  if ((parseResourceVersion(metadata.resourceVersion ?? "") ?? 0) === 0) return;
  throw status.unconverted("resourceVersion should not be set on objects to be created");
}

function dropResetFields({ object, strategy }: Write): void {
  for (const name of strategy.resetFields) delete object[name];
}

function stamp({ object: { metadata }, strategy, kind: { parts } }: Write): void {
  metadata.uid = parts.newUid?.() ?? crypto.randomUUID();
  metadata.creationTimestamp = formatTime(parts.clock.nowMs());
  if (strategy.generationFields.length > 0) metadata.generation = 1;
}

/** Allocates unique values, but, as in upstream, not for an object that a write to its status creates. */
function allocate({ kind, object, subresource, context, settlement }: Write): Promise<void> | void {
  if (subresource !== "") return;
  return kind.parts.allocator?.beforeCreate(object, { dryRun: context.dryRun, onSettled: settlement.add });
}

function refuseInvalid(write: Write): Promise<void> | void {
  const { kind, object, strategy } = write;
  const metadataErrors = validateObjectMeta(object.metadata, kind.metaRules(object));
  if (strategy.validatesPrefix === false) {
    return followedBy(judgeObject(write, metadataErrors), () =>
      kind.refuseInvalid(object, validatePrefixSegment(object.metadata)),
    );
  }
  if (strategy.metaRules !== "none") return judgeObject(write, metadataErrors);
  // The metadata rules of some kinds include those of every object. For the other kinds, these come last.
  return followedBy(judgeObject(write, []), () => kind.refuseInvalid(object, metadataErrors));
}

function alreadyExists(ref: ObjectRef, current: Entry | undefined): StatusError {
  const deleting = current !== undefined && isBeingDeleted(current);
  return deleting ? status.alreadyExistsTerminating(ref) : status.alreadyExists(ref);
}
