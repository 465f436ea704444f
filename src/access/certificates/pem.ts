/** One block of PEM: `-----BEGIN <type>-----`, headers, base64, `-----END <type>-----`. */
export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly der: Buffer;
}

/**
 * Returns the well-formed blocks of a text in order. As TLS libraries do, skips text around and between them, and blanks
 * in the base64. Takes linear time.
 */
export function pemBlocks(text: string): PemBlock[] {
  const lines = text.split("\n").map((line) => line.trimEnd());
  const blocks: PemBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const type = typeOf(lines[at] as string);
    if (type === undefined) continue;
    const end = nextMark(lines, at + 1);
    if (lines[end] !== `-----END ${type}-----`) continue;
    const body = lines.slice(at + 1, end);
    const firstData = body.findIndex((line) => !line.includes(":") && line !== "");
    const data = firstData < 0 ? "" : body.slice(firstData).join("").replaceAll(/[ \t]/g, "");
    at = end;
    if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) continue;
    blocks.push({ type, hasHeaders: body.some((line) => line.includes(":")), der: Buffer.from(data, "base64") });
  }
  return blocks;
}

/** Returns the certificates in a text, as DER. */
export function certificateBlocks(text: string): Buffer[] {
  return pemBlocks(text).flatMap(({ type, der }) => (type === "CERTIFICATE" ? [der] : []));
}

function typeOf(line: string): string | undefined {
  const [start, end] = ["-----BEGIN ", "-----"];
  return line.startsWith(start) && line.endsWith(end) ? line.slice(start.length, -end.length) : undefined;
}

/** Returns the index of the next line that begins or ends a block, or the end of the text. */
function nextMark(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && !(lines[at] as string).startsWith("-----")) at++;
  return at;
}
