import { type ImpersonationOptions, impersonate } from "../../access/authorization/impersonation.ts";
import { status } from "../../api/status.ts";
import type { Filter, HeaderList } from "../../request/exchange.ts";
import type { UserInfo } from "../../request/user-info.ts";

const prefix = "impersonate-";
const extraPrefix = "impersonate-extra-";

/**
 * Replaces the user of a request with the one in its headers, if the sender may impersonate that user. After that, only
 * the audit records the sender.
 */
export function impersonation(options: ImpersonationOptions): Filter {
  return (next) => (exchange) => {
    const wanted = wantedUser(exchange.request.headers);
    if (wanted === undefined) return next(exchange);
    return impersonate(options, exchange.user, wanted, exchange.info).then(({ user, constraint }) => {
      exchange.impersonation = { by: exchange.user, constraint };
      exchange.user = user;
      return next(exchange);
    });
  };
}

/**
 * Returns the user that the headers name, or undefined.
 * @throws StatusError 400 for other impersonation headers without a user name
 */
function wantedUser(headers: HeaderList): UserInfo | undefined {
  if (!isAskedFor(headers)) return undefined;
  let userName: string | undefined;
  let uid: string | undefined;
  const groups: string[] = [];
  const extra = new Map<string, string[]>();
  for (const [name, raw] of headers) {
    if (!name.startsWith(prefix)) continue;
    const value = utf8Of(raw);
    if (name === "impersonate-user") userName ??= value;
    else if (name === "impersonate-uid") uid ??= value;
    else if (name === "impersonate-group") groups.push(value);
    else if (name.startsWith(extraPrefix)) {
      const key = decode(name.slice(extraPrefix.length));
      extra.set(key, [...(extra.get(key) ?? []), value]);
    }
  }
  const wanted: UserInfo = { name: userName ?? "", uid: uid ?? "", groups, extra };
  if (wanted.name !== "") return wanted;
  // An empty name means the same as an absent header.
  if (wanted.uid === "" && groups.length === 0 && extra.size === 0) return undefined;
  throw status.badRequest(`requested ${userText(wanted)} without impersonating a user name`);
}

/** A plain loop, because nearly every request ends here. */
function isAskedFor(headers: HeaderList): boolean {
  for (let at = 0; at < headers.length; at++) {
    if ((headers[at] as HeaderList[number])[0].startsWith(prefix)) return true;
  }
  return false;
}

/** Headers arrive as one character per byte, but names are UTF-8. */
function utf8Of(bytes: string): string {
  return /^[\x20-\x7e]*$/.test(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");
}

/** Header names are in lower case. A name that cannot be decoded is used unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Formats the value as upstream does. */
function userText({ name, uid, groups, extra }: UserInfo): string {
  const list = (values: readonly string[]) => `[]string{${values.map((value) => JSON.stringify(value)).join(", ")}}`;
  const extras = [...extra].map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`);
  const groupText = groups.length === 0 ? "[]string(nil)" : list(groups);
  const extraText = extra.size === 0 ? "map[string][]string(nil)" : `map[string][]string{${extras.join(", ")}}`;
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${groupText}, Extra:${extraText}}`;
}
