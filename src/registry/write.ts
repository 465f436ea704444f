import { equalJson, type JsonObject, type JsonValue } from "../api/json.ts";
import type { KubeObject, ManagedFieldsEntry } from "../api/object-meta.ts";
import { managedFieldsProblem } from "../apply/managed-fields.ts";
import { type Eventual, followedBy } from "../process/eventual.ts";
import { nextTurn } from "../process/turn.ts";
import type { Admission, AdmissionAttributes, FindPremise } from "./admission.ts";
import { admissionAttributes } from "./admission-attributes.ts";
import type { FieldTracker } from "./field-ownership.ts";
import { isLargeObject } from "./large-object.ts";
import { dropRepeatedOwners } from "./repeated-owners.ts";
import { Settlement } from "./settlement.ts";
import type { StoredKind } from "./stored-kind.ts";
import type { Strategy } from "./strategy.ts";
import { setManagedFields } from "./system-fields.ts";
import type { WriteContext } from "./write-context.ts";

/** Differences from a plain write to the object itself. */
export interface WriteOptions {
  /** Rules of the subresource that is written; by default the resource's own. */
  readonly strategy?: Strategy;
  readonly subresource?: string;
  /** Field tracker; by default the writer owns the fields that it changes. */
  readonly tracker?: FieldTracker;
  /** Admission in place of the registry's chain, for writes of another document than the object. */
  readonly admission?: Admission;
  /** Another object on which the write depends. */
  readonly premise?: FindPremise;
}

/** One attempt to write an object, changed by each step. */
export class Write {
  readonly kind: StoredKind;
  readonly context: WriteContext;
  readonly namespace: string;
  readonly strategy: Strategy;
  readonly subresource: string;
  readonly admission: Admission;
  readonly settlement = new Settlement();
  /** The objects on which this write depends. */
  readonly premises: FindPremise[];
  /** Object to replace; undefined for a creation. */
  readonly old: KubeObject | undefined;
  /** The object in its current state. */
  object: KubeObject;
  /** True if other requests get a turn after each step. */
  isLarge = false;
  readonly #tracker: FieldTracker;
  #attributes: AdmissionAttributes | undefined;

  constructor(
    kind: StoredKind,
    { object, old, namespace }: { object: KubeObject; old: KubeObject | undefined; namespace: string },
    context: WriteContext,
    options: WriteOptions,
  ) {
    this.kind = kind;
    this.object = object;
    this.old = old;
    this.namespace = namespace;
    this.context = context;
    this.strategy = options.strategy ?? kind.parts.strategy;
    this.subresource = options.subresource ?? "";
    this.admission = options.admission ?? kind.parts.admission;
    this.premises = options.premise === undefined ? [] : [options.premise];
    this.#tracker = options.tracker ?? updateTracker(kind, this.subresource, context);
  }

  /** Attributes for admission plugins. They show the object to mutating plugins first, and later its final state. */
  get attributes(): AdmissionAttributes {
    this.#attributes ??= admissionAttributes({
      operation: this.old === undefined ? "CREATE" : "UPDATE",
      info: this.kind.info,
      subresource: this.subresource,
      namespace: this.namespace,
      object: this.object,
      oldObject: this.old,
      context: this.context,
      onSettled: this.settlement.add,
      dependsOn: (premise) => void this.premises.push(premise),
    });
    return this.#attributes;
  }

  trackFields(): Promise<void> | void {
    const tracked = this.#tracker(this.old, this.object);
    if (tracked instanceof Promise) return tracked.then((entries) => setManagedFields(this.object, entries));
    setManagedFields(this.object, tracked);
  }
}

/** One step of a write. Most finish synchronously. */
export type WriteStep = (write: Write) => Promise<void> | void;

/** Takes a write through its steps. */
export async function takeSteps(steps: readonly WriteStep[], write: Write): Promise<void> {
  for (const step of steps) {
    const pending = step(write);
    if (pending !== undefined) await pending;
    if (write.isLarge) await nextTurn();
  }
}

/** Steps that creations and updates share. */
export const writeSteps = {
  applyDefaults({ kind, object }: Write): void {
    kind.info.form.applyDefaults(object as unknown as JsonObject);
  },
  measure(write: Write): void {
    write.isLarge = isLargeObject(write.object);
  },
  /** Comes before `trackFields`, so that a large write yields between the two. */
  prepareTracking({ kind, context, subresource }: Write): void {
    kind.ownership.prepare(context.version ?? kind.info, subresource);
  },
  dropGatedFields({ kind, object, old }: Write): void {
    const { info, parts } = kind;
    if (info.form.kind !== "struct") return;
    const { schema } = info.form;
    parts.gatedFields?.drop(schema, object as unknown as JsonObject, old as unknown as JsonObject | undefined);
  },
  /**
   * Tracks fields before admission, because changes made by plugins have no owner, and before some fields are dropped.
   */
  trackFields: (write: Write) => write.trackFields(),
  dropRepeatedOwners({ object, context }: Write): void {
    dropRepeatedOwners(object, context.warn, " after mutating admission happens");
  },
  admit(write: Write): Eventual<void> {
    const { managedFields } = write.object.metadata;
    return followedBy(write.admission.admit(write.attributes), () => restoreManagedFields(write, managedFields));
  },
  canonicalise(write: Write): void {
    write.object = write.kind.canonical(write.object, write.old);
  },
  warn({ strategy, object, old, context }: Write): void {
    for (const text of strategy.warnings?.(object, old) ?? []) context.warn(text);
  },
  judge(write: Write): Eventual<void> {
    const { object, attributes } = write;
    const name = object.metadata.name ?? "";
    return write.admission.validate({ ...attributes, name, object });
  },
  /** Applies defaults again, as upstream does when it reads back the stored object. */
  applyDefaultsAgain(write: Write): void {
    if (write.strategy.defaultsAgain === true) writeSteps.applyDefaults(write);
  },
  complete({ kind, object }: Write): void {
    kind.info.form.complete(object as unknown as JsonObject);
  },
} satisfies Record<string, WriteStep>;

/** Undoes a plugin's change of managedFields that left them unreadable. */
function restoreManagedFields({ object, context }: Write, before: ManagedFieldsEntry[] | undefined): void {
  const { managedFields } = object.metadata;
  if (equalJson(managedFields as JsonValue | undefined, before as JsonValue | undefined)) return;
  const problem = managedFieldsProblem(managedFields);
  if (problem === undefined) return;
  setManagedFields(object, before);
  context.warn(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  );
}

function updateTracker(kind: StoredKind, subresource: string, { manager, version }: WriteContext): FieldTracker {
  const writer = { manager, subresource, version: version ?? kind.info, nowMs: kind.parts.clock.nowMs() };
  return (live, object) => kind.ownership.afterUpdate(live, object, writer);
}
