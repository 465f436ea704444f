import type { FieldError } from "../api/field-error.ts";
import type { KubeObject } from "../api/object-meta.ts";
import type { Strategy } from "./strategy.ts";
import { dnsSubdomainProblems } from "../api/validation/names.ts";

/**
 * The rules of most resources: DNS subdomain names, unconditional updates, immediate removal, a Status as delete
 * result.
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

/** Returns a rule for new objects only. An update of such a kind is judged by `validateUpdate` alone. */
export function forNewObjects<T extends KubeObject>(
  validate: (object: T) => readonly FieldError[],
): Strategy<T>["validate"] {
  return (object, old) => (old === undefined ? validate(object) : []);
}

/** The `status` subresource of a resource: everything but status and metadata stays as stored. */
export function statusStrategy(parent: Strategy): Strategy {
  return {
    ...parent,
    allowCreateOnUpdate: false,
    resetFields: ["spec"],
    prepareForUpdate(object, old) {
      for (const name of Object.keys(object)) if (!writableByStatus.has(name)) delete object[name];
      for (const [name, value] of Object.entries(old)) if (!writableByStatus.has(name)) object[name] = value;
      keepMeta(object, old);
    },
    validate: () => [],
    validateUpdate: () => [],
    warnings: () => [],
  };
}

const writableByStatus = new Set(["kind", "apiVersion", "metadata", "status"]);

/** A status writer cannot take over ownership or finish a deletion. */
function keepMeta(object: { metadata: object }, old: { metadata: object }): void {
  const metadata = object.metadata as Record<string, unknown>;
  const stored = old.metadata as Record<string, unknown>;
  for (const name of ["ownerReferences", "finalizers"]) {
    if (stored[name] === undefined) delete metadata[name];
    else metadata[name] = stored[name];
  }
}
