import type { Strategy } from "./strategy.ts";
import { dnsSubdomainProblems } from "../api/validation/names.ts";

/** What most resources do: DNS subdomain names, unconditional updates, immediate removal, a Status as delete result. */
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

/** The `status` subresource of a resource: everything but status and metadata stays as stored. */
export function statusStrategy(parent: Strategy): Strategy {
  return {
    ...parent,
    allowCreateOnUpdate: false,
    resetFields: ["spec"],
    metaRules: repeatsChange(parent) ? "update" : "none",
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

function repeatsChange({ metaRules = "both" }: Strategy): boolean {
  return metaRules === "both" || metaRules === "update";
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
