import { randomBytes } from "node:crypto";
import type { UserInfo } from "../../request/user-info.ts";
import { isToken } from "./bearer-token.ts";

/** An unusable token file. The message is one line with the location, without the token. */
export class TokenFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TokenFileError";
  }
}

/**
 * Parses static tokens from CSV and returns a function that looks up a token. A line is
 * `token,user,uid[,"group1,group2"]`. Empty lines and lines starting with # are skipped. The look-up uses a keyed hash,
 * so that its time reveals nothing about a token but its length.
 * @throws TokenFileError
 */
export function parseTokenFile(text: string, fileName = "token file"): (token: string) => UserInfo | undefined {
  const key = randomBytes(32).toString("base64");
  // Returns the SHA-256 of key and token. Digests are never visible, so an HMAC's protection against extension, at twice
  // the cost, is unnecessary.
  const digest = (token: string) => Bun.SHA256.hash(`${key}${token}`, "base64");
  const users = new Map<string, UserInfo>();
  const lengths = new Set<number>();
  for (const { line, fields } of parseCsv(text, fileName)) {
    const fail = (why: string) => new TokenFileError(`${fileName}:${line}: ${why}`);
    const [token = "", name = "", uid = "", groups = ""] = fields;
    if (fields.length < 3) throw fail("a line must have a token, a user name and a user id");
    if (!isToken(token)) throw fail("the token is empty or contains an invalid character");
    if (name === "") throw fail("the user name is empty");
    const id = digest(token);
    if (users.has(id)) throw fail("the token occurs twice");
    lengths.add(token.length);
    users.set(id, { name, uid, groups: splitGroups(groups), extra: new Map() });
  }
  // Most tokens are not from a file. Their length tells that for less than the hash.
  return (token) => (lengths.has(token.length) ? users.get(digest(token)) : undefined);
}

function splitGroups(text: string): string[] {
  return text
    .split(",")
    .map((group) => group.trim())
    .filter((group) => group !== "");
}

interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/** Parses RFC 4180 in one pass, ignoring blanks before a field. */
function parseCsv(text: string, fileName: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let fields: string[] = [];
  let line = 1;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    if (fields.length === 0 && (text[at] === "#" || text[at] === "\n" || text[at] === "\r")) {
      at = endOfLine(text, at) + 1;
      line++;
      continue;
    }
    const startLine = line;
    const field = readField(text, at);
    if (field === undefined) throw new TokenFileError(`${fileName}:${startLine}: a quoted field has no closing quote`);
    fields.push(field.value);
    line += field.lines;
    at = field.end + 1;
    if (text[field.end] !== ",") {
      records.push({ line: startLine, fields });
      fields = [];
      line++;
    } else if (at >= text.length) {
      records.push({ line: startLine, fields: [...fields, ""] });
    }
  }
  return records;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** Reads one field from `from`. `end` is the index of the comma or newline after it. */
function readField(text: string, from: number): { value: string; end: number; lines: number } | undefined {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  if (text[at] !== '"') {
    while (at < text.length && text[at] !== "," && text[at] !== "\n") at++;
    return { value: text.slice(from, at).trim(), end: at, lines: 0 };
  }
  let value = "";
  let lines = 0;
  for (at++; at < text.length; at++) {
    if (text[at] === '"') {
      if (text[at + 1] !== '"') break;
      at++;
    } else if (text[at] === "\n") lines++;
    value += text[at];
  }
  if (at >= text.length) return undefined;
  at++;
  while (text[at] === " " || text[at] === "\t" || text[at] === "\r") at++;
  return at >= text.length || text[at] === "," || text[at] === "\n" ? { value, end: at, lines } : undefined;
}
