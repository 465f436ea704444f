import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Secret } from "../../api/types/core-v1.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateSecret, validateSecretUpdate } from "./validation/secret.ts";
import { mergeStringData } from "./defaults/secret.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import { sizeOf, textOf } from "../../api/json-reading.ts";
import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { JsonObject } from "../../api/json.ts";

const secretStrategy: Strategy<Secret> = {
  ...defaultStrategy,
  coversSchema: true,
  // An update judges what cannot change first, and then the object as a whole.
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

function secretCells(secret: JsonObject): Cells {
  return { Type: textOf(secret["type"]), Data: sizeOf(secret["data"]) };
}
