import { type TypeEntries, TypeSchemas } from "../schema/compile.ts";
import type { StructSchema } from "../schema/schema.ts";
import typesJson from "../scheme/generated/types.json";

const types = new TypeSchemas(typesJson as unknown as TypeEntries);

/**
 * Returns the schema of a type that responses of every group use, such as `meta/v1.Status`.
 * @throws Error if the type does not exist
 */
export function metaSchema(name: string): StructSchema {
  return types.struct(name);
}
