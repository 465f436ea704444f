import type { Reply } from "../../request/exchange.ts";

/** Returns an answer with a JSON document. */
export function jsonReply(document: unknown): Reply {
  return jsonBytesReply(Buffer.from(JSON.stringify(document)));
}

/** Returns an answer whose bytes are called JSON, whatever they are. */
export function jsonBytesReply(body: Uint8Array): Reply {
  return { kind: "reply", code: 200, headers: [["content-type", "application/json"]], body };
}
