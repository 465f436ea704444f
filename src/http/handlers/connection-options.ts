import { apiVersionOf } from "../../api/gvk.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Schema } from "../../api/schema/schema.ts";
import { structOf } from "../../api/scheme/object-form.ts";
import type { SubresourceInfo } from "../../api/scheme/resource.ts";
import { status } from "../../api/status.ts";
import { type Query, queryFlag, queryValue } from "../../request/request-info.ts";

const portMax = 65_535;

/**
 * Returns the options of a connection as an object of their kind, such as PodExecOptions.
 * @param path the rest of the path after a proxy; "" for other connections
 * @throws StatusError 400 for an invalid port
 */
export function connectionOptions({ gvk, form }: SubresourceInfo, query: Query, path: string): KubeObject {
  const options: JsonObject = { kind: gvk.kind, apiVersion: apiVersionOf(gvk) };
  for (const field of structOf({ form }).fields.values()) {
    const value = field.name === "path" ? path : parameterOf(query, field.name, field.schema);
    const isEmpty = value === "" || value === false || (Array.isArray(value) && value.length === 0);
    if (!isEmpty) options[field.name] = value;
    else if (!field.omitEmpty) options[field.name] = Array.isArray(value) ? null : value;
  }
  return options as unknown as KubeObject;
}

function parameterOf(query: Query, name: string, schema: Schema): JsonValue {
  const values = query.get(name) ?? [];
  if (schema.kind !== "list") {
    return schema.kind === "scalar" && schema.scalar === "bool" ? queryFlag(query, name) : queryValue(query, name);
  }
  const { items } = schema;
  return items.kind === "scalar" && items.scalar === "int32" ? values.flatMap(portsOf) : [...values];
}

function portsOf(text: string): number[] {
  return text.split(",").map((port) => {
    if (/^[0-9]{1,5}$/.test(port) && Number(port) <= portMax) return Number(port);
    const why = /^[0-9]+$/.test(port) ? "value out of range" : "invalid syntax";
    throw status.badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(port)}: ${why}`);
  });
}
