import { stringifyJson } from "../../api/codec/json.ts";
import { isJsonObject, type JsonObject } from "../../api/json.ts";

/** Length of the hash that distinguishes parameters of the same name. */
const hashLength = 8;

/**
 * The parameters that many operations of a Swagger document share. Written out in each operation, they would be most of
 * its text.
 */
export class SharedParameters {
  /** Names by the text of the parameter. */
  readonly #names = new Map<string, string>();
  readonly #parameters = new Map<string, JsonObject>();

  /** Returns a reference to the parameter, or the parameter itself if it belongs to one operation. */
  refer(parameter: JsonObject): JsonObject {
    if (!isShared(parameter)) return parameter;
    const text = stringifyJson(parameter);
    let name = this.#names.get(text);
    if (name === undefined) {
      name = `${String(parameter["name"])}-${Bun.SHA256.hash(text, "base64url").slice(0, hashLength)}`;
      this.#names.set(text, name);
      this.#parameters.set(name, parameter);
    }
    return { $ref: `#/parameters/${name}` };
  }

  /** Returns the shared parameters by name, sorted. */
  sorted(): [name: string, parameter: JsonObject][] {
    return [...this.#parameters].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** Older clients look for these in the operations, to find out what the server supports. */
const unshared: ReadonlySet<string> = new Set(["dryRun", "fieldValidation"]);

/** An object's name and its body belong to one kind. */
function isShared({ name, in: place, schema }: JsonObject): boolean {
  if (place === "body") {
    const type = isJsonObject(schema) ? schema["$ref"] : undefined;
    return typeof type === "string" && type.startsWith("#/definitions/io.k8s.apimachinery.");
  }
  return name !== "name" && !unshared.has(String(name));
}
