import { type FieldError, fieldError, fieldErrorText } from "../field-error.ts";
import { parseGoDuration } from "../go-duration.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import { parseYaml } from "./yaml.ts";

/** The group of files that configure the server. */
const group = "apiserver.config.k8s.io";

/**
 * A configuration file in YAML or JSON, with its type checked.
 * @throws Error with one text for everything that is wrong with it
 */
export function parseConfigurationFile<T>(
  bytes: Uint8Array,
  { kind, versions, fields }: { kind: string; versions: readonly string[]; fields: readonly string[] },
  read: (value: JsonObject, check: FileCheck) => T,
): T {
  const { value, duplicates } = parseYaml(bytes, { strict: true });
  if (!isJsonObject(value)) throw new Error("the file holds no object");
  if (duplicates.length > 0) throw new Error(`the field ${JSON.stringify(duplicates[0])} is given twice`);
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

/** What is wrong so far, and the readings of fields that add to it. */
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

  /** One of `allowed`; the first where it is missing or wrong, which is an error then. */
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

  /** Undefined when it is missing or wrong, the latter being an error. */
  durationMs(value: JsonObject, path: string, name: string): number | undefined {
    const text = this.text(value, path, name);
    if (text === "") return undefined;
    const nanos = parseGoDuration(text);
    if (nanos !== undefined && nanos > 0n) return Math.max(1, Number(nanos / 1_000_000n));
    this.errors.push(fieldError.invalid(join(path, name), text, "must be > 0s"));
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
