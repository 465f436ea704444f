import { expect, test } from "bun:test";
import { labelKeyErrors } from "./label-syntax.ts";

const name = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function isValid(key: string): boolean {
  const parts = key.split("/");
  const last = parts.at(-1) as string;
  if (parts.length > 2 || last.length > 63 || !name.test(last)) return false;
  return parts.length === 1 || ((parts[0] as string).length <= 253 && subdomain.test(parts[0] as string));
}

function* texts(alphabet: string, length: number): Generator<string> {
  yield "";
  if (length === 0) return;
  for (const first of alphabet) for (const rest of texts(alphabet, length - 1)) yield first + rest;
}

test("a key has errors if upstream's patterns and limits do not match it", () => {
  const long = [62, 63, 64, 253, 254].flatMap((length) => {
    const text = "a".repeat(length);
    return [text, `${text}/a`, `a/${text}`, `${text}-`, `a.${text}/B`];
  });
  for (const key of [...texts("aB0-./\n", 5), ...long]) {
    expect({ key, valid: labelKeyErrors(key).length === 0 }).toEqual({ key, valid: isValid(key) });
  }
});
