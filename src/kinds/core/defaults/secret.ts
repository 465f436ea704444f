import { isJsonObject, type JsonObject } from "../../../api/json.ts";

/** `stringData` is for writing only: its values become base64 `data`, and win over it. */
export function mergeStringData(secret: JsonObject): void {
  const { stringData, data } = secret;
  if (!isJsonObject(stringData)) return;
  const merged = Object.assign(Object.create(null) as JsonObject, data);
  for (const [name, text] of Object.entries(stringData)) merged[name] = Buffer.from(String(text)).toString("base64");
  secret["data"] = merged;
  delete secret["stringData"];
}
