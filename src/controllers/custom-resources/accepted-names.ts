import { equalJson, type JsonObject } from "../../api/json.ts";
import { textOf, textsOf } from "../../api/json-reading.ts";

/** Whether a definition gets the names that it asks for. */
export interface NamesVerdict {
  /** The names that it has from now on. */
  readonly names: JsonObject;
  /** Undefined when nothing stands in the way. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

/**
 * Gives a definition the names that it asks for, one by one, as far as no other definition of its group has them.
 * @param others accepted names of the other definitions
 */
export function judgeNames(wanted: JsonObject, accepted: JsonObject, others: readonly JsonObject[]): NamesVerdict {
  const resources = new Set(
    others.flatMap((names) => [textOf(names["plural"]), textOf(names["singular"]), ...textsOf(names["shortNames"])]),
  );
  const kinds = new Set(others.flatMap((names) => [textOf(names["kind"]), textOf(names["listKind"])]));
  const names: JsonObject = { ...accepted };
  let conflict: NamesVerdict["conflict"];
  const take = (field: string, taken: ReadonlySet<string>, reason: string) => {
    const name = textOf(wanted[field]);
    if (name === textOf(accepted[field]) || !taken.has(name)) names[field] = name;
    else conflict = { reason, message: inUse(name) };
  };
  take("plural", resources, "PluralConflict");
  take("singular", resources, "SingularConflict");
  const own = textsOf(accepted["shortNames"]);
  const clashes = textsOf(wanted["shortNames"]).filter((name) => !own.includes(name) && resources.has(name));
  if (clashes.length === 0) copyField(names, wanted, "shortNames");
  else conflict = { reason: "ShortNamesConflict", message: listed(clashes.map(inUse)) };
  take("kind", kinds, "KindConflict");
  take("listKind", kinds, "ListKindConflict");
  copyField(names, wanted, "categories");
  return { names, conflict };
}

/** Reports whether there is nothing left to accept. */
export function hasItsNames(wanted: JsonObject, accepted: JsonObject): boolean {
  return equalJson(wanted, accepted);
}

function copyField(names: JsonObject, wanted: JsonObject, field: string): void {
  const value = wanted[field];
  if (value === undefined) delete names[field];
  else names[field] = value;
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/** Several errors as one text, as Go joins them. */
function listed(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(", ")}]`;
}
