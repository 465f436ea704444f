import type { HeaderList } from "../request/exchange.ts";

/** Returns the headers as Node.js takes them. A repeated header has a list of values. */
export function groupedHeaders(headers: HeaderList): Record<string, string | string[]> {
  // A header may have the name of a property that every object inherits.
  const byName = new Map<string, string | string[]>();
  for (const [name, value] of headers) {
    const before = byName.get(name);
    byName.set(name, before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(byName);
}

/** Returns the names, in lower case, and values of the headers in `rawHeaders` of Node.js. */
export function headerPairs(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    pairs.push([(rawHeaders[at] as string).toLowerCase(), rawHeaders[at + 1] as string]);
  }
  return pairs;
}
