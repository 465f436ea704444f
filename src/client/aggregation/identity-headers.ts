import type { HeaderList } from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";

/** Prefix of all headers in which an aggregating server names the user. */
const identityPrefix = "x-remote-";
const nameText = /^[\w!#$&'*+.^`|~-]$/;
const fieldText = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Further headers by which this server itself identifies users, in lower case. */
export interface IdentityHeaderNames {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
}

const noFurther: IdentityHeaderNames = { names: [], prefixes: [] };

/**
 * Returns the headers with `user` as their only identity. Backends trust these headers because of our certificate, so the
 * client's own must never reach them.
 * @throws Error for a user that headers cannot express
 */
export function withIdentity(headers: HeaderList, user: UserInfo, further = noFurther): [string, string][] {
  const names = new Set(further.names.map(hyphened));
  const prefixes = [identityPrefix, ...further.prefixes.map(hyphened)];
  const isWithheld = (name: string) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  const kept = headers
    .filter(([name]) => !isWithheld(hyphened(name)))
    .map(([name, value]): [string, string] => [name, value]);
  return [...kept, ...identityHeaders(user)];
}

/** Some servers treat an underscore as a hyphen. */
function hyphened(name: string): string {
  return name.replaceAll("_", "-");
}

function identityHeaders({ name, uid, groups, extra }: UserInfo): [string, string][] {
  return [
    ["x-remote-user", fieldValue("X-Remote-User", name)],
    ...(uid === "" ? [] : [["x-remote-uid", fieldValue("X-Remote-Uid", uid)] satisfies [string, string]]),
    ...groups.map((group): [string, string] => ["x-remote-group", fieldValue("X-Remote-Group", group)]),
    ...[...extra].flatMap(([key, values]) => {
      const header = `x-remote-extra-${escapedKey(key)}`;
      return values.map((value): [string, string] => [header, fieldValue(header, value)]);
    }),
  ];
}

/** Percent-encodes the bytes that a header name cannot have. */
function escapedKey(key: string): string {
  return [...Buffer.from(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return nameText.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
}

/** Headers carry bytes; names are UTF-8. */
function fieldValue(header: string, value: string): string {
  const bytes = Buffer.from(value).toString("latin1");
  if (!fieldText.test(bytes)) throw new Error(`net/http: invalid header field value for ${JSON.stringify(header)}`);
  return bytes;
}
