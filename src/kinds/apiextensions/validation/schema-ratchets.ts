import { type OpenApiSchema, someSchema } from "../../../api/structural/open-api-schema.ts";
import { hasUnprunedDefaults } from "./default-values.ts";
import { granularExtension, validateListKeys } from "./list-type-rules.ts";
import { structuralObstacle, validateStructural } from "./structural-rules.ts";

/** Rules that came later than some stored definitions; an update is spared what the stored one breaks already. */
export interface SchemaRatchets {
  readonly requiresSchemas: boolean;
  readonly requiresKnownTypes: boolean;
  readonly requiresStructural: boolean;
  readonly requiresPrunedDefaults: boolean;
  readonly requiresAtomicSets: boolean;
  readonly requiresListKeys: boolean;
}

/** A new definition follows every rule. */
export const allRequired: SchemaRatchets = {
  requiresSchemas: true,
  requiresKnownTypes: true,
  requiresStructural: true,
  requiresPrunedDefaults: true,
  requiresAtomicSets: true,
  requiresListKeys: true,
};

/** Types of values. */
export const schemaTypes = ["array", "boolean", "integer", "number", "object", "string"];

/**
 * Returns what the update of a definition with these schemas has to follow. Yields between patterns.
 * @param schemas of its versions
 */
export function* ratchetsOf(schemas: readonly (OpenApiSchema | undefined)[]): Generator<void, SchemaRatchets> {
  const given = schemas.flatMap((schema) => schema ?? []);
  const none = (breaks: (node: OpenApiSchema) => boolean) => !given.some((schema) => someSchema(schema, breaks));
  return {
    requiresSchemas: given.length === schemas.length,
    requiresKnownTypes: none(({ type }) => type !== undefined && !schemaTypes.includes(type)),
    requiresStructural: yield* areStructural(given),
    requiresPrunedDefaults: !given.some(hasUnprunedDefaults),
    requiresAtomicSets: none(
      ({ items, "x-kubernetes-list-type": listType }) =>
        listType === "set" && items !== undefined && granularExtension(items) !== undefined,
    ),
    requiresListKeys: none((node) => validateListKeys(node, "").length > 0),
  };
}

function* areStructural(schemas: readonly OpenApiSchema[]): Generator<void, boolean> {
  for (const schema of schemas) {
    if (structuralObstacle(schema) !== undefined || (yield* validateStructural(schema, "")).length > 0) return false;
  }
  return true;
}
