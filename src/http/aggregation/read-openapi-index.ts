import { parseJson } from "../../api/codec/json.ts";
import { isJsonObject } from "../../api/json.ts";
import { objectOf } from "../../api/json-reading.ts";

const valuesMax = 20_000;
/** Maximum number of documents of one extension server, and length of a key and a URL. */
const documentsMax = 2_000;
const keyMax = 512;
const urlMax = 2_048;

/**
 * Reads the index of the OpenAPI 3.0 documents of an extension server: their URLs by key. Ignores entries that do not
 * name a path on the server itself.
 * @throws Error for a document that is not an index, or is too large
 */
export function readOpenApiIndex(bytes: Uint8Array): ReadonlyMap<string, string> {
  const { value } = parseJson(bytes, { strict: false, valuesMax });
  const { paths } = objectOf(value) as { paths?: unknown };
  if (!isJsonObject(paths)) throw new Error("the index has no paths");
  const entries = Object.entries(paths);
  if (entries.length > documentsMax) throw new Error(`there are more than ${documentsMax} documents`);
  const index = new Map<string, string>();
  for (const [key, entry] of entries) {
    const url = objectOf(entry)["serverRelativeURL"];
    const isPath = typeof url === "string" && url.length <= urlMax && url.startsWith("/openapi/v3/");
    if (isPath && key.length <= keyMax) index.set(key, url);
  }
  return index;
}
