import type { HeaderList } from "../../request/exchange.ts";

/** Limit of the head of an answer. */
export const headBytesMax = 64 * 1024;
export const headEnd = Buffer.from("\r\n\r\n");

export interface AnswerHead {
  readonly code: number;
  /** The n of HTTP/1.n. */
  readonly minorVersion: number;
  /** Names in lower case. */
  readonly headers: HeaderList;
}

/**
 * Returns the head of a request, ready to be sent.
 * @throws Error for a value that would end its line, without the value
 */
export function requestHead(method: string, path: string, headers: HeaderList): string {
  let lines = "";
  for (const [name, value] of headers) {
    if (/[\r\n\0]/.test(value)) throw new Error(`invalid header field value for ${JSON.stringify(name)}`);
    lines += `${name}: ${value}\r\n`;
  }
  return `${method} ${path} HTTP/1.1\r\n${lines}\r\n`;
}

/** Reads the head of an answer without the empty line at its end; undefined for anything else. */
export function parseHead(text: string): AnswerHead | undefined {
  const [statusLine = "", ...lines] = text.split("\r\n");
  const [, minorVersion, code] = /^HTTP\/1\.([01]) ([0-9]{3})/.exec(statusLine) ?? [];
  if (code === undefined) return undefined;
  const headers: [string, string][] = [];
  for (const line of lines) {
    const at = line.indexOf(":");
    if (at <= 0) return undefined;
    headers.push([line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]);
  }
  return { code: Number(code), minorVersion: Number(minorVersion), headers };
}
