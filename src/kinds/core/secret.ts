import type { Cells } from "../../api/codec/table/table-rules.ts";
import { emptyMap } from "../../api/json.ts";
import type { Secret } from "../../api/types/core-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateSecret, validateSecretUpdate } from "./validation/secret.ts";

const secretStrategy: Strategy<Secret> = {
  ...defaultStrategy,
  coversSchema: true,
  // An update checks immutable fields first, and then the whole object.
  validate: (object, old) => (old === undefined ? validateSecret(object) : []),
  validateUpdate: validateSecretUpdate,
};

export const secret = builtInKind("secrets", {
  endpoint: stored(secretStrategy),
  sensitive: true,
  table: { cells: secretCells },
  defaults: { "core/v1.Secret": mergeStringData },
  descriptions: {
    "core/v1.Secret": {
      "": "A small amount of confidential data.",
      data: "Bytes by key, in base64.",
      stringData: "Text by key, for writing only: it is moved to data.",
      type: "Purpose of the secret. Some types require certain keys.",
      immutable: "When true, the data can no longer change.",
    },
  },
});

function secretCells({ type = "", data = {} }: Secret): Cells {
  return { Type: type, Data: Object.keys(data).length };
}

/** Moves `stringData`, which is for writing only, to `data`, where its values replace others. */
function mergeStringData(secret: Secret): void {
  const { stringData, data } = secret;
  if (stringData === undefined) return;
  const merged = Object.assign(emptyMap<string>(), data);
  for (const [name, text] of Object.entries(stringData)) merged[name] = Buffer.from(text).toString("base64");
  secret.data = merged;
  delete secret.stringData;
}
