import type { FieldError } from "../api/field-error.ts";
import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";
import { dnsSubdomainProblems } from "../api/validation/names.ts";
import type { Strategy } from "./strategy.ts";

/**
 * Rules of most resources: DNS subdomain names, unconditional updates, immediate removal, a Status as the result of a
 * delete.
 */
export const defaultStrategy: Strategy = {
  allowCreateOnUpdate: false,
  allowUnconditionalUpdate: true,
  returnsDeletedObject: false,
  generationFields: [],
  resetFields: [],
  validateName: dnsSubdomainProblems,
  prepareForCreate() {},
  prepareForUpdate() {},
  validate: () => [],
  validateUpdate: () => [],
  gracePeriodSeconds: () => 0,
};

/** Returns a rule for new objects only. Updates of such a kind are checked by `validateUpdate` alone. */
export function forNewObjects<T extends KubeObject>(
  validate: (object: T) => readonly FieldError[],
): Strategy<T>["validate"] {
  return (object, old) => (old === undefined ? validate(object) : []);
}

export interface StatusRules {
  /** Keeps labels, annotations, owners and finalizers as stored, too. */
  readonly keepsMetadata?: boolean;
}

/** Returns the rules of the `status` subresource of a resource: everything but status and metadata stays as stored. */
export function statusStrategy(parent: Strategy, { keepsMetadata = false }: StatusRules = {}): Strategy {
  const { validateInTurns: _, ...inherited } = parent;
  return {
    ...inherited,
    allowCreateOnUpdate: false,
    resetFields: ["spec"],
    metaRules: repeatsChange(parent) ? "update" : "none",
    prepareForUpdate(object, old) {
      for (const name of Object.keys(object)) if (!writableByStatus.has(name)) delete object[name];
      for (const [name, value] of Object.entries(old)) if (!writableByStatus.has(name)) object[name] = value;
      if (keepsMetadata) keepMetadata(object, old, ["labels", "annotations", "ownerReferences", "finalizers"]);
    },
    validate: () => [],
    validateUpdate: () => [],
    warnings: () => [],
  };
}

function repeatsChange({ metaRules = "both" }: Strategy): boolean {
  return metaRules === "both" || metaRules === "update";
}

const writableByStatus = new Set(["kind", "apiVersion", "metadata", "status"]);

/** Copies the named fields of metadata from the stored object. */
export function keepMetadata(object: KubeObject, old: KubeObject, names: readonly (keyof ObjectMeta)[]): void {
  const metadata = object.metadata as Record<string, unknown>;
  for (const name of names) {
    if (old.metadata[name] === undefined) delete metadata[name];
    else metadata[name] = old.metadata[name];
  }
}
