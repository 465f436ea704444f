import { isUnique } from "./list-types.ts";
import { type OpenApiSchema, someSchema } from "./open-api-schema.ts";
import { isEmbedded } from "./prune.ts";

/** Features that a schema uses somewhere. The work for those that it does not use is skipped. */
export interface SchemaFeatures {
  readonly defaults: boolean;
  readonly embedded: boolean;
  readonly uniqueLists: boolean;
}

export function featuresOf(schema: OpenApiSchema): SchemaFeatures {
  let defaults = false;
  let embedded = false;
  let uniqueLists = false;
  someSchema(schema, (node) => {
    defaults ||= node.default !== undefined;
    embedded ||= isEmbedded(node);
    uniqueLists ||= isUnique(node);
    return defaults && embedded && uniqueLists;
  });
  return { defaults, embedded, uniqueLists };
}
