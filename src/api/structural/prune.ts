import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { type OpenApiSchema, valuesOf } from "./open-api-schema.ts";

/** Fields that every resource has, declared or not. */
export const resourceFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);
/** Limit of the paths that are reported of one document. */
const reportedMax = 100;

/**
 * Removes undeclared fields in place.
 * @param isResource whether to keep the fields that every resource has at the top
 * @returns paths of the removed fields, such as `spec.a[0].b`, sorted; at most a hundred
 */
export function prune(value: JsonValue, schema: OpenApiSchema, isResource: boolean): string[] {
  const run = new PruneRun();
  run.node(value, schema, isResource || isEmbedded(schema));
  return run.removed.sort();
}

export function isEmbedded(schema: OpenApiSchema): boolean {
  return schema["x-kubernetes-embedded-resource"] === true;
}

class PruneRun {
  readonly removed: string[] = [];
  readonly #path: (string | number)[] = [];

  node(value: JsonValue, schema: OpenApiSchema | undefined, isResource: boolean): void {
    if (typeof value !== "object" || value === null) return;
    const keepsUnknown = schema?.["x-kubernetes-preserve-unknown-fields"] === true;
    if (Array.isArray(value)) this.#items(value, schema, keepsUnknown);
    else this.#fields(value, schema, isResource, keepsUnknown);
  }

  #fields(object: JsonObject, schema: OpenApiSchema | undefined, isResource: boolean, keepsUnknown: boolean): void {
    for (const name of Object.keys(object)) {
      if (isResource && resourceFields.has(name)) continue;
      const property = schema?.properties?.[name];
      if (property !== undefined || schema?.additionalProperties !== undefined) {
        this.#below(name, object[name] as JsonValue, property ?? valuesOf(schema as OpenApiSchema));
      } else if (!keepsUnknown) {
        if (!resourceFields.has(name) || this.#path.length > 0) this.#report(name);
        delete object[name];
      }
    }
  }

  #items(list: readonly JsonValue[], schema: OpenApiSchema | undefined, keepsUnknown: boolean): void {
    const items = schema?.items;
    if (keepsUnknown && items === undefined) return;
    for (const [at, item] of list.entries()) {
      if (keepsUnknown) this.#keeping(at, item, items as OpenApiSchema);
      else this.#below(at, item, items);
    }
  }

  /** Prunes an item of a list that keeps unknown fields, which the item keeps too. */
  #keeping(at: number, item: JsonValue, items: OpenApiSchema): void {
    this.#path.push(at);
    if (Array.isArray(item)) this.#items(item, items, true);
    else if (isJsonObject(item)) this.#fields(item, items, isEmbedded(items), true);
    this.#path.pop();
  }

  #below(segment: string | number, value: JsonValue, schema: OpenApiSchema | undefined): void {
    if (typeof value !== "object" || value === null) return;
    this.#path.push(segment);
    this.node(value, schema, schema !== undefined && isEmbedded(schema));
    this.#path.pop();
  }

  #report(name: string): void {
    if (this.removed.length < reportedMax) this.removed.push(pathText([...this.#path, name]));
  }
}

/** Formats a path as `spec.list[0].name`. */
export function pathText(segments: readonly (string | number)[]): string {
  let path = "";
  for (const segment of segments) {
    if (typeof segment === "number") path += `[${segment}]`;
    else path += path === "" ? segment : `.${segment}`;
  }
  return path;
}
