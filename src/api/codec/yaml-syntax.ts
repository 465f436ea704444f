import type { ParsedDocument } from "./json.ts";

/** Limit of the nesting of lists and maps. */
export const yamlDepthMax = 250;
/**
 * Limit of the size that aliases and merge keys add to a document: the characters of the text and keys that they
 * repeat, and 8 for each value.
 */
export const yamlAliasedSizeMax = 1_000_000;

/** Thrown for bytes that are not one YAML document, or that JSON cannot represent. */
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
