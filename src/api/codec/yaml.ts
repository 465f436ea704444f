import { atOnce } from "../../process/sliced.ts";
import { objectValuesMax } from "../object-extent.ts";
import { status } from "../status.ts";
import type { ParseOptions } from "./json.ts";
import { yamlValues } from "./yaml-extent.ts";
import { type ParsedYaml, YamlSyntaxError } from "./yaml-syntax.ts";

export { stringifyYaml, yamlParts } from "./stringify-yaml.ts";

/** Limit of the values in a client's document. Half that of JSON, because parsing YAML takes twice as long. */
export const yamlValuesMax = objectValuesMax / 2;

/**
 * Parses the first YAML 1.1 document as Kubernetes reads it (see resolvePlainScalar), with anchors, aliases and merge
 * keys. Empty input is null. The last of repeated keys wins; `strict` reports them.
 * @throws YamlSyntaxError, and StatusError 413 for more than `valuesMax` values
 */
export function parseYaml(bytes: Uint8Array, options: ParseOptions): ParsedYaml {
  return atOnce(parseYamlInSteps(bytes, options));
}

/** Does the same, and yields between its passes over the text. */
export function* parseYamlInSteps(bytes: Uint8Array, { strict, valuesMax }: ParseOptions): Generator<void, ParsedYaml> {
  composer ??= require("./yaml-composer.ts") as typeof import("./yaml-composer.ts");
  const text = decodeText(bytes);
  // Every value takes at least two characters, including its separator.
  if (valuesMax !== undefined && text.length >= 2 * valuesMax && yamlValues(text, valuesMax) > valuesMax) {
    throw status.tooManyValues(valuesMax);
  }
  yield;
  return yield* composer.composeYaml(text, strict);
}

/**
 * Loaded with its library for the first document: most requests are JSON, and the start of the server reads no YAML.
 */
let composer: typeof import("./yaml-composer.ts") | undefined;

const textDecoder = new TextDecoder("utf-8", { fatal: true });

function decodeText(bytes: Uint8Array): string {
  try {
    return textDecoder.decode(bytes);
  } catch {
    throw new YamlSyntaxError("invalid UTF-8");
  }
}
