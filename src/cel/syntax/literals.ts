/** A literal that is written correctly and has no value. The text is shown to clients. */
export class LiteralError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "LiteralError";
  }
}

const shortEscapes: ReadonlyMap<string, number> = new Map([
  ["a", 7],
  ["b", 8],
  ["f", 12],
  ["n", 10],
  ["r", 13],
  ["t", 9],
  ["v", 11],
  ["\\", 92],
  ["'", 39],
  ['"', 34],
  ["`", 96],
  ["?", 63],
]);
const codePointMax = 0x10ffff;

/**
 * Reads the text of a string token.
 * @throws LiteralError
 */
export function readString(token: string): string {
  const { body, isRaw } = unquote(token);
  if (isRaw || !body.includes("\\")) return body;
  let text = "";
  for (const part of partsOf(body, false))
    text += typeof part === "string" ? part : String.fromCodePoint(part.codePoint);
  return text;
}

/**
 * Reads the text of a bytes token, with its `b`.
 * @throws LiteralError
 */
export function readBytes(token: string): Uint8Array {
  const { body, isRaw } = unquote(token.slice(1));
  if (isRaw || !body.includes("\\")) return new TextEncoder().encode(body);
  const bytes: number[] = [];
  for (const part of partsOf(body, true)) {
    if (typeof part === "string") bytes.push(...new TextEncoder().encode(part));
    else bytes.push(part.codePoint & 0xff);
  }
  return Uint8Array.from(bytes);
}

function unquote(token: string): { readonly body: string; readonly isRaw: boolean } {
  const text = token.replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  const isRaw = text.startsWith("r") || text.startsWith("R");
  const quoted = isRaw ? text.slice(1) : text;
  const isTriple = quoted.length >= 6 && (quoted.startsWith('"""') || quoted.startsWith("'''"));
  const marks = isTriple ? 3 : 1;
  return { body: quoted.slice(marks, -marks), isRaw };
}

function* partsOf(body: string, isBytes: boolean): Generator<string | { readonly codePoint: number }> {
  let at = 0;
  while (at < body.length) {
    const escape = body.indexOf("\\", at);
    if (escape < 0) {
      yield body.slice(at);
      return;
    }
    if (escape > at) yield body.slice(at, escape);
    const kind = body.charAt(escape + 1);
    const short = shortEscapes.get(kind);
    if (short !== undefined) {
      yield { codePoint: short };
      at = escape + 2;
      continue;
    }
    const { digits, radix, skip } = numericEscape(kind, isBytes);
    const codePoint = Number.parseInt(body.slice(escape + skip, escape + skip + digits), radix);
    if (!isBytes && (codePoint > codePointMax || (codePoint >= 0xd800 && codePoint <= 0xdfff))) {
      throw new LiteralError("invalid unicode code point");
    }
    yield { codePoint };
    at = escape + skip + digits;
  }
}

function numericEscape(kind: string, isBytes: boolean) {
  if (kind === "x" || kind === "X") return { digits: 2, radix: 16, skip: 2 };
  if (kind !== "u" && kind !== "U") return { digits: 3, radix: 8, skip: 1 };
  if (isBytes) throw new LiteralError("unable to unescape string");
  return { digits: kind === "u" ? 4 : 8, radix: 16, skip: 2 };
}

const intMin = -(2n ** 63n);
const intMax = 2n ** 63n - 1n;
const uintMax = 2n ** 64n - 1n;

/** @throws LiteralError */
export function readInt(text: string, isNegative: boolean): bigint {
  const magnitude = BigInt(text);
  const value = isNegative ? -magnitude : magnitude;
  if (value < intMin || value > intMax) throw new LiteralError("invalid int literal");
  return value;
}

/** @throws LiteralError */
export function readUint(token: string): bigint {
  const value = BigInt(token.slice(0, -1));
  if (value > uintMax) throw new LiteralError("invalid uint literal");
  return value;
}

/** @throws LiteralError */
export function readDouble(text: string, isNegative: boolean): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new LiteralError("invalid double literal");
  return isNegative ? -value : value;
}
