import { compareTexts } from "../api/code-points.ts";
import { quoteText } from "../api/go-literal.ts";
import type { FieldSet } from "./field-set.ts";
import { identityText, type ManagerEntry, type ManagerIdentity } from "./manager-entry.ts";
import { pathText } from "./path-element.ts";

/** Fields that an apply would take from another owner. */
export interface Conflict {
  readonly owner: ManagerEntry;
  readonly fields: FieldSet;
}

/** One entry of a conflict's `details.causes`. */
export interface ConflictCause {
  readonly type: "FieldManagerConflict";
  readonly message: string;
  readonly field: string;
}

/** The message and the causes of the 409, one cause for each field and owner. */
export interface ConflictReport {
  readonly message: string;
  readonly causes: readonly ConflictCause[];
}

export function reportConflicts(conflicts: readonly Conflict[]): ConflictReport {
  const inOrder = conflicts.toSorted((a, b) => compareTexts(identityText(a.owner), identityText(b.owner)));
  const groups = inOrder.map(({ owner, fields }) => ({ name: ownerText(owner), paths: fields.paths().map(pathText) }));
  const causes = groups.flatMap(({ name, paths }) =>
    paths.map((field) => ({ type: "FieldManagerConflict" as const, message: `conflict with ${name}`, field })),
  );
  const [only] = causes;
  if (causes.length === 1 && only !== undefined) {
    return { message: `Apply failed with 1 conflict: ${only.message}: ${only.field}`, causes };
  }
  const lines = groups.flatMap(({ name, paths }) => [`conflicts with ${name}:`, ...paths.map((path) => `- ${path}`)]);
  return { message: `Apply failed with ${causes.length} conflicts: ${lines.join("\n")}`, causes };
}

function ownerText({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const name = quoteText(manager) + (subresource === "" ? "" : ` with subresource ${quoteText(subresource)}`);
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
