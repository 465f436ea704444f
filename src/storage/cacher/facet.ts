import type { Entry, Key } from "../../api/entry.ts";

/**
 * A property by which readers select entries: the name, the namespace as the prefix of the key, a label, or a field of
 * the index.
 */
export type Facet = "name" | "prefix" | "key" | `label ${string}` | `field ${string}`;

/** A condition that every entry of a selection meets: the facet has one of these values. */
export interface Pin {
  readonly facet: Facet;
  readonly values: readonly string[];
}

/** Returns the value of a facet; undefined for a label that the entry does not have. */
export type FacetReader = (entry: Entry) => string | undefined;

export function facetReader(facet: Facet): FacetReader {
  if (facet === "name") return ({ key }) => key.slice(key.lastIndexOf("/") + 1);
  if (facet === "prefix") return ({ key }) => prefixOf(key);
  if (facet === "key") return ({ key }) => key;
  const name = facet.slice(facet.indexOf(" ") + 1);
  if (facet.startsWith("field ")) return ({ index: { fields } }) => ownValue(fields, name) ?? "";
  return ({ index: { labels } }) => ownValue(labels, name);
}

function prefixOf(key: Key): Key {
  return key.slice(0, key.lastIndexOf("/") + 1);
}

/** A label may be called `constructor`. */
function ownValue(values: Readonly<Record<string, string>> | undefined, name: string): string | undefined {
  return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
}
