import type { JsonObject } from "../json.ts";
import { decodeTyped } from "../schema/decode.ts";
import type { StructSchema } from "../schema/schema.ts";

const zeroObjects = new WeakMap<StructSchema, JsonObject>();

/**
 * What a kind's empty object looks like on the wire: the fields that are written even when nothing is set, such as
 * `"spec":{"containers":null},"status":{}` of a Pod. Shared; do not change it.
 */
export function zeroObject(schema: StructSchema): JsonObject {
  let zero = zeroObjects.get(schema);
  if (zero === undefined) {
    zero = decodeTyped(schema, {}, { kind: schema.name }).object;
    zeroObjects.set(schema, zero);
  }
  return zero;
}
