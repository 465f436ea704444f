import { decodeBody } from "../../../api/codec/stored-object.ts";
import type { Entry, Key } from "../../../api/entry.ts";
import type { FindKind } from "./custom-form.ts";

/** The kinds of definitions, which are asked for with every write of a custom resource. */
const kinds = new WeakMap<Entry, string>();

/** Returns a function that finds the kind of a custom resource in its stored definition. */
export function kindFinder(get: (key: Key) => Entry | undefined): FindKind {
  return ({ group, resource }) => {
    const definition = get(`/registry/apiextensions.k8s.io/customresourcedefinitions/${resource}.${group}`);
    return definition === undefined ? undefined : kindIn(definition);
  };
}

function kindIn(definition: Entry): string | undefined {
  let kind = kinds.get(definition);
  if (kind === undefined) {
    const { spec } = decodeBody(definition) as { spec?: { names?: { kind?: string } } };
    kind = spec?.names?.kind;
    if (kind !== undefined) kinds.set(definition, kind);
  }
  return kind;
}
