import type { Cells } from "../../api/codec/table/table-rules.ts";
import type { ConfigMap } from "../../api/types/core-v1.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import { builtInKind, stored } from "../../registry/kind.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { validateConfigMap, validateConfigMapUpdate } from "./validation/config-map.ts";

const configMapStrategy: Strategy<ConfigMap> = {
  ...defaultStrategy,
  coversSchema: true,
  // An update checks immutable fields first, and then the whole object.
  validate: (object, old) => (old === undefined ? validateConfigMap(object) : []),
  validateUpdate: validateConfigMapUpdate,
};

export const configMap = builtInKind("configmaps", {
  endpoint: stored(configMapStrategy),
  table: { cells: configMapCells },
  descriptions: {
    "core/v1.ConfigMap": {
      "": "Configuration that pods read as files, variables or arguments.",
      data: "Text by key. A key is made of letters, digits, '-', '_' and '.'.",
      binaryData: "Bytes by key, in base64. No key may also be in data.",
      immutable: "When true, the data can no longer change.",
    },
  },
});

function configMapCells({ data = {}, binaryData = {} }: ConfigMap): Cells {
  return { Data: Object.keys(data).length + Object.keys(binaryData).length };
}
