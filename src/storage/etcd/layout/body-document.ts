import { joinBytes, toText } from "../../../api/codec/byte-text.ts";
import { parseJsonText } from "../../../api/codec/json.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { ProposedBody } from "../../store.ts";

/** Decodes a stored body to a document without kind, apiVersion and resourceVersion. */
export function bodyDocument({ prefix, suffix }: ProposedBody): JsonObject {
  const document = parseJsonText(toText(joinBytes([prefix, suffix]))) as JsonObject;
  delete (document["metadata"] as JsonObject)["resourceVersion"];
  return document;
}
