import type { JsonObject } from "../json.ts";
import type { ObjectForm } from "../scheme/object-form.ts";

const zeroObjects = new WeakMap<ObjectForm, JsonObject>();

/**
 * Returns the empty object of a kind in its wire form: the fields that are written even if nothing is set, such as
 * `"spec":{"containers":null},"status":{}` of a Pod. Shared; do not change it. A custom kind has no such fields.
 */
export function zeroObject(form: ObjectForm): JsonObject {
  let zero = zeroObjects.get(form);
  if (zero === undefined) {
    zero = form.kind === "struct" ? form.decode({}, { kind: form.schema.name }).object : {};
    zeroObjects.set(form, zero);
  }
  return zero;
}
