import type { CustomResourceDefinitionNames } from "../../api/types/apiextensions-v1.ts";

/** The result of a definition's request for names. */
export interface NamesVerdict {
  /** The names that the definition has from now on. */
  readonly names: CustomResourceDefinitionNames;
  /** Undefined if all names are free. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

/** The names of another definition. */
export interface TakenNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
}

/**
 * Gives a definition each requested name that no other definition of its group has.
 * @param others accepted names of the other definitions
 */
export function judgeNames(
  wanted: CustomResourceDefinitionNames,
  accepted: CustomResourceDefinitionNames,
  others: readonly TakenNames[],
): NamesVerdict {
  const resources = new Set(
    others.flatMap(({ plural, singular = "", shortNames = [] }) => [plural, singular, ...shortNames]),
  );
  const kinds = new Set(others.flatMap(({ kind, listKind = "" }) => [kind, listKind]));
  const { shortNames: own = [], categories: _categories, ...rest } = accepted;
  const names: CustomResourceDefinitionNames = rest;
  let conflict: NamesVerdict["conflict"];
  const take = (field: NameField, taken: ReadonlySet<string>, reason: string) => {
    const name = wanted[field] ?? "";
    if (name === (accepted[field] ?? "") || !taken.has(name)) names[field] = name;
    else conflict = { reason, message: inUse(name) };
  };
  take("plural", resources, "PluralConflict");
  take("singular", resources, "SingularConflict");
  const { shortNames, categories } = wanted;
  const clashes = (shortNames ?? []).filter((name) => !own.includes(name) && resources.has(name));
  if (clashes.length > 0) {
    conflict = { reason: "ShortNamesConflict", message: listed(clashes.map(inUse)) };
    if (accepted.shortNames !== undefined) names.shortNames = own;
  } else if (shortNames !== undefined) names.shortNames = shortNames;
  take("kind", kinds, "KindConflict");
  take("listKind", kinds, "ListKindConflict");
  if (categories !== undefined) names.categories = categories;
  return { names, conflict };
}

type NameField = "plural" | "singular" | "kind" | "listKind";

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/** Joins several errors as Go does. */
function listed(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(", ")}]`;
}
