import {
  isJsonFields,
  isJsonList,
  type Json,
  type JsonFields,
  JsonList,
  type Result,
  unescapeFieldName,
  type Value,
  ValueMap,
} from "../../../cel/index.ts";

/**
 * Makes a value of the claims of a token. All numbers are doubles. Below the top level, a map's key may be written as an
 * identifier: `claims.app.kubernetes__dot__io`.
 */
export function claimsValue(json: Json): Value {
  if (isJsonFields(json)) return new ClaimsMap(json, false);
  return partValue(json);
}

function partValue(json: Json): Value {
  if (typeof json === "bigint") return Number(json);
  if (isJsonList(json)) return new JsonList(json, partValue);
  return isJsonFields(json) ? new ClaimsMap(json, true) : json;
}

class ClaimsMap extends ValueMap {
  readonly #fields: JsonFields;
  readonly #unescapes: boolean;

  constructor(fields: JsonFields, unescapes: boolean) {
    super();
    this.#fields = fields;
    this.#unescapes = unescapes;
  }

  get size(): number {
    return Object.keys(this.#fields).length;
  }

  find(key: Value): Result | undefined {
    if (typeof key !== "string") return undefined;
    const name = this.#unescapes ? (unescapeFieldName(key) ?? key) : key;
    return Object.hasOwn(this.#fields, name) ? partValue(this.#fields[name] ?? null) : undefined;
  }

  keys(): Iterable<string> {
    return Object.keys(this.#fields);
  }
}
