import { createHash } from "node:crypto";

/** Returns the hash of some bytes or of a text as upstream writes it: `sha256:` and hexadecimal digits. */
export function sha256Text(data: string | Uint8Array): string {
  return `sha256:${createHash("sha256").update(data).digest("hex")}`;
}
