import { isJsonObject, type JsonValue } from "../../api/json.ts";
import { elementKey, mergeKeyValue } from "./merge-key.ts";

/** Returns the identity of a list item: the merge key of an object, the value of a scalar. */
function identityOf(item: JsonValue, mergeKey: string | undefined): string {
  if (mergeKey === undefined || !isJsonObject(item)) return elementKey(item);
  return elementKey(mergeKeyValue(item, mergeKey) ?? null);
}

/** True when the items of a patch list occur in the asked order, each of them. Directives before an item are skipped. */
export function patchOrderMatches(
  patch: readonly JsonValue[],
  order: readonly JsonValue[],
  mergeKey: string | undefined,
): boolean {
  let at = 0;
  for (const asked of order) {
    while (hasDirective(patch[at])) at++;
    const item = patch[at];
    if (item === undefined) break;
    if (identityOf(item, mergeKey) === identityOf(asked, mergeKey)) at++;
  }
  return at === patch.length;
}

function hasDirective(item: JsonValue | undefined): boolean {
  return isJsonObject(item) && Object.hasOwn(item, "$patch");
}

/**
 * Sorts a merged list: items of `order` in that order, the others in their order on the server. Between two items that
 * the server knows, its order decides; otherwise the item of `order` comes first.
 */
export function orderAsAsked(list: {
  readonly merged: readonly JsonValue[];
  readonly order: readonly JsonValue[];
  readonly serverOrder: readonly JsonValue[];
  readonly mergeKey: string | undefined;
}): JsonValue[] {
  const asked = positions(list.order, list.mergeKey);
  const known = positions(list.serverOrder, list.mergeKey);
  const rows = list.merged.map((item) => {
    const identity = identityOf(item, list.mergeKey);
    return { item, asked: asked.get(identity), known: known.get(identity) };
  });
  const ordered = rows.filter((row) => row.asked !== undefined).sort((a, b) => (a.asked ?? 0) - (b.asked ?? 0));
  const others = rows.filter((row) => row.asked === undefined).sort((a, b) => (a.known ?? 0) - (b.known ?? 0));
  const result: JsonValue[] = [];
  let at = 0;
  for (const other of others) {
    while (at < ordered.length) {
      const next = ordered[at] as (typeof ordered)[number];
      if (other.known !== undefined && next.known !== undefined && other.known < next.known) break;
      result.push(next.item);
      at++;
    }
    result.push(other.item);
  }
  for (; at < ordered.length; at++) result.push((ordered[at] as (typeof ordered)[number]).item);
  return result;
}

function positions(list: readonly JsonValue[], mergeKey: string | undefined): Map<string, number> {
  const map = new Map<string, number>();
  for (const [at, item] of list.entries()) {
    const identity = identityOf(item, mergeKey);
    if (!map.has(identity)) map.set(identity, at);
  }
  return map;
}
