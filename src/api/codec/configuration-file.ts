import { type FieldError, fieldError, fieldErrorText } from "../field-error.ts";
import { parseGoDuration } from "../go-duration.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { parseYaml } from "./yaml.ts";

/** The group of files that configure the server. */
const group = "apiserver.config.k8s.io";

/**
 * Parses a configuration file in YAML or JSON and checks its type.
 * @throws Error with one message that lists every problem
 */
export function parseConfigurationFile<T>(
  bytes: Uint8Array,
  { kind, versions, fields }: { kind: string; versions: readonly string[]; fields: readonly string[] },
  read: (value: JsonObject, check: FileCheck) => T,
): T {
  const { value, duplicates } = parseYaml(bytes, { strict: true });
  if (!isJsonObject(value)) throw new Error("the file does not contain an object");
  if (duplicates.length > 0) throw new Error(`the field ${JSON.stringify(duplicates[0])} occurs twice`);
  const known = versions.map((version) => `${group}/${version}`);
  if (!known.includes(String(value["apiVersion"])) || value["kind"] !== kind) {
    throw new Error(`the file is no ${kind} of ${known.join(", ")}`);
  }
  const check = new FileCheck();
  check.fields(value, "", ["apiVersion", "kind", ...fields]);
  const result = read(value, check);
  if (check.errors.length > 0) throw new Error(check.errors.map(fieldErrorText).join("; "));
  return result;
}

/** Collects the errors of a configuration file while its fields are read. */
export class FileCheck {
  readonly errors: FieldError[] = [];

  fields(value: JsonObject, path: string, known: readonly string[]): void {
    for (const name of Object.keys(value)) {
      if (!known.includes(name)) this.errors.push(fieldError.invalidUnshown(join(path, name), "unknown field"));
    }
  }

  text(value: JsonObject, path: string, name: string): string {
    const text = value[name];
    if (text === undefined || text === null || text === "") return "";
    if (typeof text === "string") return text;
    this.errors.push(fieldError.typeInvalid(join(path, name), text, "must be a string"));
    return "";
  }

  /** Reads one of `allowed`. A missing or wrong value is an error and counts as the first of them. */
  choice<Choice extends string>(value: JsonObject, path: string, name: string, allowed: readonly Choice[]): Choice {
    const text = this.text(value, path, name);
    const found = allowed.find((choice) => choice === text);
    if (found !== undefined) return found;
    const field = join(path, name);
    this.errors.push(
      text === "" ? fieldError.required(field) : fieldError.notSupported(field, text, [...allowed].sort()),
    );
    return allowed[0] as Choice;
  }

  /** Reads a duration; undefined if it is missing or wrong. A wrong one is an error. */
  durationMs(
    value: JsonObject,
    path: string,
    name: string,
    { allowsZero = false }: { readonly allowsZero?: boolean } = {},
  ): number | undefined {
    const text = this.text(value, path, name);
    if (text === "") return undefined;
    const nanos = parseGoDuration(text);
    if (nanos === 0n && allowsZero) return 0;
    if (nanos !== undefined && nanos > 0n) return Math.max(1, Number(nanos / 1_000_000n));
    const detail = allowsZero ? "must be a duration such as 1.5s" : "must be > 0s";
    this.errors.push(fieldError.invalid(join(path, name), text, detail));
    return undefined;
  }

  boolean(value: JsonObject, path: string, name: string, byDefault: boolean): boolean {
    const given = value[name];
    if (given === undefined || given === null) return byDefault;
    if (typeof given === "boolean") return given;
    this.errors.push(fieldError.typeInvalid(join(path, name), given, "must be true or false"));
    return byDefault;
  }

  object(value: JsonObject, path: string, name: string): JsonObject | undefined {
    const given = value[name];
    if (given === undefined || given === null) return undefined;
    if (isJsonObject(given)) return given;
    this.errors.push(fieldError.typeInvalid(join(path, name), given, "must be an object"));
    return undefined;
  }
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
