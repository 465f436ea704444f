import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { parseJson } from "../../src/api/codec/json.ts";
import { compareDefinition, type DefinitionCase } from "./crd-definitions.ts";
import { compareObject, type ObjectCase } from "./crd-objects.ts";
import type { Difference } from "./difference.ts";
import type { FileReport } from "./replay-files.ts";

/** Replays the vector files of custom resources in a directory, packed or not. */
export function runCrdVectors(directory: string): FileReport[] {
  return [
    ...report(directory, "objects.jsonl", (recorded: ObjectCase) => compareObject(recorded)),
    ...report(directory, "definitions.jsonl", (recorded: DefinitionCase) => compareDefinition(recorded)),
  ];
}

function report<T extends { readonly name: string }>(
  directory: string,
  file: string,
  compare: (recorded: T) => readonly Difference[],
): FileReport[] {
  const text = readText(join(directory, file));
  if (text === undefined) return [];
  const differences: string[] = [];
  let [equal, total] = [0, 0];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    total++;
    const found = guarded(parseJson(Buffer.from(line), { strict: false }).value as unknown as T, compare);
    if (found.length === 0) equal++;
    differences.push(...found.map(differenceText));
  }
  return [{ file, equal, total, differences }];
}

function readText(path: string): string | undefined {
  if (existsSync(path)) return readFileSync(path, "utf8");
  return existsSync(`${path}.gz`) ? gunzipSync(readFileSync(`${path}.gz`)).toString() : undefined;
}

function guarded<T extends { readonly name: string }>(
  recorded: T,
  compare: (recorded: T) => readonly Difference[],
): readonly Difference[] {
  try {
    return compare(recorded);
  } catch (error) {
    const actual = error instanceof Error ? error.stack : String(error);
    return [{ name: recorded.name, aspect: "crash", expected: undefined, actual }];
  }
}

function differenceText({ name, aspect, expected, actual }: Difference): string {
  return `${name}: ${aspect}:\n  expected ${JSON.stringify(expected)}\n  found    ${JSON.stringify(actual)}`;
}
