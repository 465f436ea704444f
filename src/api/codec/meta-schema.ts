import { type TypeEntries, TypeSchemas } from "../schema/compile.ts";
import typesJson from "../scheme/generated/types.json";
import type { StructSchema } from "../schema/schema.ts";

const types = new TypeSchemas(typesJson as unknown as TypeEntries);

/**
 * Schema of a type that responses of every group use, such as `meta/v1.Status`. Compiled on first use.
 * @throws Error when there is none of that name
 */
export function metaSchema(name: string): StructSchema {
  return types.struct(name);
}
