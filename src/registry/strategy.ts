import type { FieldError } from "../api/field-error.ts";
import type { GroupVersion } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { MetaRules } from "../api/validation/object-meta.ts";
import type { Eventual } from "../process/eventual.ts";
import type { WriteContext } from "./write-context.ts";

/** Options of a delete, decoded and validated. */
export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: "Orphan" | "Background" | "Foreground" | undefined;
  /** `orphanDependents: false` answers 202 while the object stays. */
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: { readonly uid: string | undefined; readonly resourceVersion: string | undefined };
  readonly dryRun: boolean;
  /** True to remove the object only if it cannot be read. */
  readonly ignoreReadErrors?: boolean;
}

/** The creator of an object, and the place for warnings about it. */
export type CreationContext = Pick<WriteContext, "user" | "warn">;

/** An object to be validated beyond its metadata. */
export interface ExaminedWrite<T extends KubeObject = KubeObject> {
  readonly object: T;
  /** The stored object; undefined for a new object. */
  readonly old: T | undefined;
  /** Problems of the metadata, already found. */
  readonly metadataErrors: readonly FieldError[];
}

export interface Examination {
  readonly errors: readonly FieldError[];
  /** Warnings for the client of a write that is otherwise fine. */
  readonly warnings: readonly string[];
}

/**
 * The rules of one resource that differ from the generic verbs of registry.ts. Prepare functions change the object that
 * they are given; validate functions do not. A subresource that writes its parent has its own Strategy.
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  /** Whether PUT on a missing object creates it. */
  readonly allowCreateOnUpdate: boolean;
  /** Whether PUT without resourceVersion overwrites the stored object. */
  readonly allowUnconditionalUpdate: boolean;
  /** Whether a delete answers with the object instead of a Status. */
  readonly returnsDeletedObject: boolean;
  /**
   * Dotted paths whose changes `metadata.generation` counts; "all" for everything outside the metadata, and empty for
   * kinds without a generation.
   */
  readonly generationFields: readonly string[] | "all";
  /** The generation also counts a change of fields that are dropped before the write. Absent means false. */
  readonly countsDroppedFields?: true;
  /** The generation also counts an empty list or map that is given in place of none. Absent means false. */
  readonly countsEmptyFields?: true;
  /** Top-level fields that a write through this path neither changes nor owns. */
  readonly resetFields: readonly string[];
  /** Whether `generateName` gets a random suffix; true by default. */
  readonly generatesNames?: boolean;
  /** Returns a message for each rule that the name breaks. */
  validateName(name: string, object: T): readonly string[];
  /** Whether `generateName` is checked, and not only the name made from it; true by default. */
  readonly validatesPrefix?: boolean;
  /** Prepares a new object. Some kinds record its creator, or warn of fields that they replace. */
  prepareForCreate(object: T, context: CreationContext): void;
  prepareForUpdate(object: T, old: T, nowMs: number): void;
  /**
   * Validates an object in its stored form.
   * @param old the replaced object; rules newer than some objects tolerate what it already has
   * @param version of the request, for the few rules that depend on it
   */
  validate(object: T, old?: T, version?: GroupVersion): readonly FieldError[];
  validateUpdate(object: T, old: T, version?: GroupVersion): readonly FieldError[];
  /** Replaces `validate` if it may take several turns. Yields between its steps. */
  validateInTurns?(object: T, old?: T): Generator<void, readonly FieldError[]>;
  /** Replaces all rules of an object, those of its type included; may take several turns (custom resources). */
  examine?(write: ExaminedWrite<T>): Eventual<Examination>;
  /** True if the type declares every rule about its fields, so that the declared rules are enforced. */
  readonly declaresRules?: true;
  /** True if the rules above include the schema's required fields and closed sets, which are then not checked again. */
  readonly coversSchema?: true;
  /** True if defaults depend on values that the server fills in, and so are applied to the valid object once more. */
  readonly defaultsAgain?: true;
  /** Rules of metadata that the validation of this kind includes; default: both. */
  readonly metaRules?: MetaRules;
  /** True if finalizers need no domain: kinds of extensions, and those that describe them. */
  readonly allowsBareFinalizers?: true;
  /** True if a delete that does not mention dependents keeps them (batch/v1 jobs, replication controllers). */
  readonly orphansByDefault?: true;
  /** True if nothing depends on such objects (events), so that a delete never adds a finalizer for dependents. */
  readonly hasNoDependents?: true;
  /** Returns warnings about a write that is valid but hardly intended. */
  warnings?(object: T, old?: T): readonly string[];
  /** Returns warnings about a request to delete, whether it finds an object or not. */
  deleteWarnings?(options: DeleteOptions): readonly string[];
  /** Returns the seconds between the first delete and the removal; 0 removes at once. */
  gracePeriodSeconds(object: T, options: DeleteOptions): number;
  /** True if a delete answers with a marked object even when it is removed at once (pods). */
  readonly marksRemoved?: true;
  /** Reports whether the object stays after a delete although its metadata has no finalizers (namespaces). */
  holdsDeletion?(object: T): boolean;
  /** True if a delete compares its preconditions with an object that it has read first (namespaces, definitions). */
  readonly readsBeforeDelete?: true;
  /** Marks an object as being deleted, in place of the usual marks. Its values are shared with the stored object. */
  markDeletion?(object: T, now: string): void;
  /** Changes the object when its deletion begins. Its values are shared with the stored object. */
  prepareForDelete?(object: T): void;
}
