import { objectValuesMax } from "../object-extent.ts";
import { status } from "../status.ts";
import type { ParsedDocument } from "./json.ts";
import { yamlValues } from "./yaml-extent.ts";

export { stringifyYaml } from "./stringify-yaml.ts";

/** Values of a document that a client sends: reading them takes twice the time that JSON takes. */
export const yamlValuesMax = objectValuesMax / 2;
/** Lists and maps nest no deeper than this. */
export const yamlDepthMax = 250;
/** What aliases and merge keys may add to a document: the characters of the text and keys that they repeat, and 8 for each value. */
export const yamlAliasedSizeMax = 1_000_000;

/** The bytes are not one YAML document, or one that JSON cannot hold. */
export class YamlSyntaxError extends Error {
  constructor(message: string, line?: number) {
    super(line === undefined ? `yaml: ${message}` : `yaml: line ${line}: ${message}`);
    this.name = "YamlSyntaxError";
  }
}

export interface ParsedYaml extends ParsedDocument {
  /** The repeated keys as upstream words them: `line 3: key "a" already set in map`. */
  readonly duplicateLines: readonly string[];
}

/**
 * Parses the one document of the input by the rules of YAML 1.1 as Kubernetes reads it (see resolvePlainScalar), with
 * anchors, aliases and merge keys. An empty input is null. Of repeated keys the last one holds; `strict` reports them.
 * Throws YamlSyntaxError, and StatusError 413 for more than `valuesMax` values.
 */
export function parseYaml(
  bytes: Uint8Array,
  { strict, valuesMax }: { readonly strict: boolean; readonly valuesMax?: number },
): ParsedYaml {
  composer ??= require("./yaml-composer.ts") as typeof import("./yaml-composer.ts");
  const text = decodeText(bytes);
  // No value is shorter than two characters, with what separates it from the next.
  if (valuesMax !== undefined && text.length >= 2 * valuesMax && yamlValues(text, valuesMax) > valuesMax) {
    throw status.tooManyValues(valuesMax);
  }
  return composer.composeYaml(text, strict);
}

/** With its library it is loaded for the first document: most requests are JSON, and a start reads no YAML. */
let composer: typeof import("./yaml-composer.ts") | undefined;

const textDecoder = new TextDecoder("utf-8", { fatal: true });

function decodeText(bytes: Uint8Array): string {
  try {
    return textDecoder.decode(bytes);
  } catch {
    throw new YamlSyntaxError("invalid UTF-8");
  }
}
