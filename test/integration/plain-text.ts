import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Returns text without repetitions, which compression leaves as it is. */
export function marker(name: string): string {
  return `${name}${randomBytes(20).toString("hex")}`;
}

/** The forms in which a text appears in an object's JSON: as it is, and within base64 at each of three alignments. */
function formsOf(text: string): Buffer[] {
  const shifted = [0, 1, 2].map((shift) => {
    const encoded = Buffer.from("x".repeat(shift) + text).toString("base64");
    return Buffer.from(encoded.slice(shift === 0 ? 0 : 4, -4));
  });
  return [Buffer.from(text), ...shifted];
}

/** Lists the files below a directory that contain the text. */
export function filesWith(directory: string, text: string): string[] {
  const forms = formsOf(text);
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => {
    const path = join(directory, name);
    if (!statSync(path).isFile()) return false;
    const bytes = readFileSync(path);
    return forms.some((form) => bytes.includes(form));
  });
}
