import type { Eventual } from "../api/eventual.ts";
import type { FieldError } from "../api/field-error.ts";
import type { GroupVersion } from "../api/gvk.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { MetaRules } from "../api/validation/object-meta.ts";
import type { UserInfo } from "../request/user-info.ts";

/** Options of a delete, decoded and validated. */
export interface DeleteOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: "Orphan" | "Background" | "Foreground" | undefined;
  /** `orphanDependents: false` answers 202 while the object stays. */
  readonly orphanDependents: boolean | undefined;
  readonly preconditions: { readonly uid: string | undefined; readonly resourceVersion: string | undefined };
  readonly dryRun: boolean;
  /** Remove the object only if it cannot be read. */
  readonly ignoreReadErrors?: boolean;
}

/** An object to be judged beyond its metadata. */
export interface ExaminedWrite<T extends KubeObject = KubeObject> {
  readonly object: T;
  /** Undefined for a new object. */
  readonly old: T | undefined;
  /** Problems of the metadata, which are known already. */
  readonly metadataErrors: readonly FieldError[];
}

export interface Examination {
  readonly errors: readonly FieldError[];
  /** Texts for the client of a write that is otherwise fine. */
  readonly warnings: readonly string[];
}

/**
 * The rules of one resource, where they differ from the generic verbs of registry.ts. Prepare functions change the
 * object that they are given; validate functions only look. A subresource that writes its parent has its own Strategy.
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  /** PUT on a missing object creates it. */
  readonly allowCreateOnUpdate: boolean;
  /** PUT without resourceVersion overwrites whatever is stored. */
  readonly allowUnconditionalUpdate: boolean;
  /** A delete answers with the object instead of a Status. */
  readonly returnsDeletedObject: boolean;
  /**
   * `metadata.generation` counts changes at these dotted paths, or of everything outside the metadata; empty for kinds
   * without a generation.
   */
  readonly generationFields: readonly string[] | "all";
  /** Top-level fields that a write through this path neither changes nor owns. */
  readonly resetFields: readonly string[];
  /** False for a kind whose `generateName` becomes the name as it is. Absent means true. */
  readonly generatesNames?: boolean;
  /** A message for each rule that the name breaks. */
  validateName(name: string): readonly string[];
  /** Whether `generateName` is checked, and not only the name made from it; true by default. */
  readonly validatesPrefix?: boolean;
  /** @param writer who creates the object, for kinds that record it */
  prepareForCreate(object: T, writer: UserInfo): void;
  prepareForUpdate(object: T, old: T, nowMs: number): void;
  /**
   * Objects are in their stored form.
   * @param old what is replaced; rules that came later than objects spare what was there before
   * @param version of the request, for the few rules that depend on it
   */
  validate(object: T, old?: T, version?: GroupVersion): readonly FieldError[];
  validateUpdate(object: T, old: T, version?: GroupVersion): readonly FieldError[];
  /** Stands for the two rules above where judging an object may take several turns. */
  examine?(write: ExaminedWrite<T>): Eventual<Examination>;
  /** The type declares every rule about the fields, so the declared rules are enforced. */
  readonly declaresRules?: true;
  /** The rules above include what the schema says about required fields and closed sets: it is not asked again. */
  readonly coversSchema?: true;
  /** Defaults depend on what the server fills in, and so are applied to the valid object once more. */
  readonly defaultsAgain?: true;
  /** The rules of metadata that the validation of this kind includes; default: both. */
  readonly metaRules?: MetaRules;
  /** Finalizers need no domain: kinds of extensions, and those that describe them. */
  readonly allowsBareFinalizers?: true;
  /** A delete that does not mention the dependents keeps them (batch/v1 jobs, replication controllers). */
  readonly orphansByDefault?: true;
  /** A delete leaves no finalizer for dependents, whatever it asks for: nothing depends on such objects (events). */
  readonly hasNoDependents?: true;
  /** Texts that a write answers with besides its result: what is valid and hardly meant. */
  warnings?(object: T, old?: T): readonly string[];
  /** Texts that a delete answers with besides its result. */
  deleteWarnings?(options: DeleteOptions): readonly string[];
  /** Seconds between the first delete and the removal; 0 removes at once. */
  gracePeriodSeconds(object: T, options: DeleteOptions): number;
  /** A delete answers with the mark of the deletion even when the object goes at once (pods). */
  readonly marksRemoved?: true;
  /** The object stays after a delete although it has no finalizers in its metadata (namespaces). */
  holdsDeletion?(object: T): boolean;
  /** Marks an object whose deletion begins, in place of the usual marks. */
  markDeletion?(object: T, now: string): void;
  /** Changes the object when its deletion begins. */
  prepareForDelete?(object: T): void;
}
