import { cloneJson, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { runSliced } from "../../process/sliced.ts";
import { defaultStrategy } from "../../registry/default-strategy.ts";
import type { Strategy } from "../../registry/strategy.ts";
import { finalizerWarnings } from "./finalizer-warnings.ts";
import type { InstanceValidator } from "./instance-validation.ts";

/** Returns the rules of the objects of one version. */
export function customStrategy(validator: () => InstanceValidator, hasStatus: boolean): Strategy {
  return {
    ...defaultStrategy,
    allowUnconditionalUpdate: false,
    metaRules: "update",
    allowsBareFinalizers: true,
    generationFields: "all",
    resetFields: hasStatus ? ["status"] : [],
    // A status that a write may not set has its defaults nevertheless.
    defaultsAgain: true,
    examine: ({ object, old, metadataErrors }) =>
      runSliced(validator().validate({ object: contentOf(object), old: old && contentOf(old), metadataErrors })),
    warnings: finalizerWarnings,
  };
}

/** Returns the rules of writes to the status. Everything else remains as stored. */
export function customStatusStrategy(parent: Strategy, validator: () => InstanceValidator): Strategy {
  return {
    ...parent,
    generationFields: [],
    resetFields: ["spec"],
    prepareForUpdate: keepAllButStatus,
    examine: ({ object, old = object, metadataErrors }) =>
      runSliced(validator().validateStatus({ object: contentOf(object), old: contentOf(old), metadataErrors })),
    warnings: () => [],
  };
}

function contentOf(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

/** The owners of fields are those that the write has just been given. */
function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  const { status } = object;
  const { managedFields, resourceVersion } = object.metadata;
  const written = contentOf(object);
  for (const name of Object.keys(written)) delete written[name];
  Object.assign(written, cloneJson(contentOf(old)));
  if (status === undefined) delete written["status"];
  else written["status"] = status as JsonObject;
  const { managedFields: _replaced, ...metadata } = object.metadata;
  object.metadata = {
    ...metadata,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(managedFields === undefined ? {} : { managedFields }),
  };
}
