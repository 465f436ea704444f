import { fieldPath } from "./rule-problem.ts";
import { type RuleSchema, valuesSchema } from "./rule-schema.ts";

const escapes: ReadonlyMap<string, string> = new Map([
  ["a", "\u0007"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
  ["'", "'"],
  ["\\", "\\"],
]);

/**
 * Reads the `fieldPath` of a rule, as `.spec['a.b'].c`, and writes it as field errors do. Undefined if it names no field of the
 * schema.
 */
export function normalizeFieldPath(path: string, root: RuleSchema): string | undefined {
  let schema: RuleSchema | undefined = root;
  let normalized = "";
  let rest = path;
  while (rest !== "") {
    const step = readStep(rest);
    if (step === undefined || schema === undefined) return undefined;
    const values = valuesSchema(schema);
    if (schema.properties !== undefined) {
      normalized = fieldPath.child(normalized, step.name);
      schema = Object.hasOwn(schema.properties, step.name) ? schema.properties[step.name] : undefined;
      if (schema === undefined) return undefined;
    } else {
      if (values === undefined) return undefined;
      normalized = fieldPath.key(normalized, step.name);
      schema = values;
    }
    rest = rest.slice(step.length);
  }
  return normalized;
}

function readStep(path: string): { readonly name: string; readonly length: number } | undefined {
  const dotted = /^\.([^.[\]]+)/.exec(path);
  if (dotted !== null) return { name: dotted[1] ?? "", length: dotted[0].length };
  const quoted = /^\['((?:[^'\\]|\\[^])*)'\]/.exec(path);
  if (quoted === null) return undefined;
  let isValid = true;
  const name = (quoted[1] ?? "").replaceAll(/\\([^])/g, (_, letter: string) => {
    const plain = escapes.get(letter);
    if (plain === undefined) isValid = false;
    return plain ?? "";
  });
  return isValid ? { name, length: quoted[0].length } : undefined;
}
