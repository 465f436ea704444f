import { objectValuesMax } from "../object-extent.ts";
import { status } from "../status.ts";
import { type ParsedYaml, YamlSyntaxError } from "./yaml-syntax.ts";
import { yamlValues } from "./yaml-extent.ts";

export { stringifyYaml } from "./stringify-yaml.ts";

/** Values of a document that a client sends: reading them takes twice the time that JSON takes. */
export const yamlValuesMax = objectValuesMax / 2;
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
