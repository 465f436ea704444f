import { readFileSync } from "node:fs";
import { StartupError } from "../../process/startup-error.ts";

/** Reads the PEM file of a flag. @throws StartupError for an unreadable file, or one without a PEM block */
export function readPem(flag: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new StartupError(`${flag}: cannot read ${file} (${(error as { code?: string }).code}): check the path`);
  }
  if (!text.includes("-----BEGIN "))
    throw new StartupError(`${flag}: ${file} does not contain a PEM block: check the file`);
  return text;
}
