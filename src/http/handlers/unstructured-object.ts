import type { JsonObject } from "../../api/json.ts";
import { DecodeTypeError } from "../../api/schema/decode-error.ts";
import { restoreUnstructured } from "../../api/schema/restore-unstructured.ts";
import type { ExpectedBody } from "./body-type.ts";
import { typedObject } from "./object-body.ts";

/**
 * Makes a typed object in the way in which upstream converts an object that never passes through JSON, such as the result
 * of an apply: integers wrap around, and errors have different texts.
 * @throws DecodeTypeError
 */
export function unstructuredObject(
  document: JsonObject,
  expected: ExpectedBody,
  reading?: Parameters<typeof typedObject>[2],
): ReturnType<typeof typedObject> {
  try {
    return typedObject(document, expected, reading);
  } catch (error) {
    if (!(error instanceof DecodeTypeError) || expected.form.kind !== "struct") throw error;
    return restored(restoreUnstructured(expected.form.schema, document), expected);
  }
}

function restored(document: JsonObject, expected: ExpectedBody): ReturnType<typeof typedObject> {
  try {
    return typedObject(document, expected);
  } catch (error) {
    // Only bytes are decoded from JSON.
    if (!(error instanceof DecodeTypeError) || !error.message.startsWith("illegal base64")) throw error;
    throw new DecodeTypeError(`error decoding from json: ${error.message}`);
  }
}
