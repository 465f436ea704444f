import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateSecret, validateSecretUpdate } from "./validation/secret.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { sizeOf, textIn } from "../../api/codec/table/reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

interface Secret extends KubeObject {
  data?: Record<string, string>;
  stringData?: Record<string, string>;
}

const secretStrategy: Strategy = {
  ...defaultStrategy,
  coversSchema: true,
  prepareForCreate: mergeStringData,
  prepareForUpdate: mergeStringData,
  validate: validateSecret,
  validateUpdate: validateSecretUpdate,
};

export const secret = builtInKind("secrets", {
  endpoint: stored(secretStrategy),
  table: { cells: secretCells },
});

/** `stringData` is for writing only: its values become base64 `data`, and win over it. */
function mergeStringData(object: Secret): void {
  const { stringData } = object;
  if (stringData === undefined) return;
  const data = Object.assign(Object.create(null) as Record<string, string>, object.data);
  for (const [name, text] of Object.entries(stringData)) data[name] = Buffer.from(text).toString("base64");
  object.data = data;
  delete object.stringData;
}

function secretCells(secret: JsonObject): Cells {
  return { Type: textIn(secret, "type"), Data: sizeOf(secret["data"]) };
}
