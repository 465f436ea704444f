import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { defaultStrategy, statusStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import {
  validateCustomResourceDefinition,
  validateCustomResourceDefinitionStatus,
  validateCustomResourceDefinitionUpdate,
} from "./validation/custom-resource-definition.ts";
import { fieldsOf } from "../../api/validation/key-values.ts";
import { objectsOf, textOf, textsOf } from "../../api/validation/fields.ts";
import { builtInKind, stored, subresource } from "../../registry/kind.ts";
import { defaultCustomResourceDefinition } from "./defaults/custom-resource-definition.ts";

const customResourceDefinitionStrategy: Strategy = {
  ...defaultStrategy,
  metaRules: "update",
  coversSchema: true,
  allowsBareFinalizers: true,
  allowUnconditionalUpdate: false,
  generationFields: ["spec"],
  resetFields: ["status"],
  prepareForCreate: recordStorageVersion,
  prepareForUpdate: recordStorageVersion,
  validate: validateCustomResourceDefinition,
  validateUpdate: validateCustomResourceDefinitionUpdate,
};

const customResourceDefinitionStatusStrategy: Strategy = {
  ...statusStrategy(customResourceDefinitionStrategy, { keepsMetadata: true }),
  validate: validateCustomResourceDefinitionStatus,
};

export const customResourceDefinition = builtInKind("customresourcedefinitions.apiextensions.k8s.io", {
  endpoint: stored(customResourceDefinitionStrategy),
  defaults: {
    "apiextensions/v1.CustomResourceDefinition": defaultCustomResourceDefinition,
  },
  subresources: {
    status: subresource(customResourceDefinitionStatusStrategy),
  },
});

/** From now on objects may be stored in this version. */
function recordStorageVersion(definition: KubeObject): void {
  const status: JsonObject = { ...fieldsOf(definition["status"]) };
  const stored = textsOf(status["storedVersions"]);
  const storage = objectsOf(fieldsOf(definition["spec"])["versions"]).find((version) => version["storage"] === true);
  const name = textOf(storage?.["name"]);
  if (name === "" || stored.includes(name)) return;
  definition["status"] = { ...status, storedVersions: [...stored, name] };
}
