import { joinBytes } from "../../api/codec/byte-text.ts";
import { encodedListLength, encodeList, measuredList } from "../../api/codec/encode-list.ts";
import { prepareEntries } from "../../api/codec/prepare-entries.ts";
import type { Entry, Key } from "../../api/entry.ts";
import { toRevision } from "../../api/revision.ts";
import { status } from "../../api/status.ts";
import { decodeContinueToken, encodeContinueToken } from "../../registry/continue-token.ts";
import type { Registry } from "../../registry/registry.ts";
import { type Selection, selectionOf } from "../../registry/selection.ts";
import type { Cacher, ListPage } from "../../storage/cacher/cacher.ts";
import type { ContentSelection } from "../../storage/cacher/prepared-batch.ts";
import { CompactedError } from "../../storage/store.ts";
import { contentTypeOf } from "../negotiate.ts";
import { bytesReply, negotiateFor, type VerbHandler } from "./endpoint.ts";
import { waitForVersion } from "./freshness.ts";
import { type ListOptions, parseListOptions } from "./list-options.ts";
import { unreadableBelow } from "./unreadable-objects.ts";

const staleListText = "The resourceVersion for the provided list is too old.";
const staleContinueText =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
  "deleted between the time the first chunk was returned and now may show up in the list.";

/**
 * Size up to which a list is joined at once. A body that is made while it is written has a deadline of its own and ends
 * with a second write, which costs more than a short list.
 */
const joinedBytesMax = 256 * 1024;

/** Answers GET of a collection: one page of stored bytes at one revision. */
export const list: VerbHandler = async (call) => {
  const { request, info, registry, parts } = call;
  const representation = negotiateFor(call, "list");
  const options = parseListOptions(request.query, info, false);
  const selection = selectionOf(info, request.namespace, request.name, options);
  const page = await readSelected(call, selection, options);
  for (const key of unreadableBelow(registry.store, selection.prefix)) {
    call.exchange.warnings.push(`${key} cannot be read and is not in this list`);
  }
  const prepared = prepareEntries(page.entries, info, () => call.exchange.request.signal);
  const entries = prepared instanceof Promise ? await prepared : prepared;
  const measured = measuredList(pageOnWire({ ...page, entries }, selection, options), info, representation);
  const onWire = measured instanceof Promise ? await measured : measured;
  const length = encodedListLength(onWire, info, representation);
  const contentType = contentTypeOf(representation, false);
  const body = encodeList(onWire, info, representation, parts.clock.nowMs());
  if (length !== undefined && length <= joinedBytesMax) return bytesReply(200, contentType, joinBytes([...body]));
  return {
    kind: "reply",
    code: 200,
    headers: [
      ["content-type", contentType],
      ...(length === undefined ? [] : [["content-length", String(length)] as const]),
    ],
    body,
  };
};

/** Reads the requested page of the objects of a selection. @throws StatusError 410, 504 */
export function readSelected(
  call: Parameters<VerbHandler>[0],
  selection: Selection,
  options: ListOptions,
): Promise<ListPage> {
  const { content } = selection;
  if (content !== undefined) return readConverted(call, selection, content, options);
  return readPage(call.registry, selection, options);
}

/** Number of entries that are converted at a time for matching. */
const convertedAtOnce = 500;

/** Reads a page of objects that are selected by their content in the request's version. */
async function readConverted(
  { registry, info, exchange }: Parameters<VerbHandler>[0],
  selection: Selection,
  { mayMatch, matches }: ContentSelection,
  options: ListOptions,
): Promise<ListPage> {
  const { limit } = options;
  const candidates = { ...selection, matches: mayMatch };
  const found: Entry[] = [];
  let rest = limit === 0 ? options : { ...options, limit: convertedAtOnce };
  for (;;) {
    const page = await readPage(registry, candidates, rest);
    const prepared = await prepareEntries(page.entries, info, () => exchange.request.signal);
    found.push(...prepared.filter(matches));
    const next = limit === 0 ? undefined : found[limit];
    if (next !== undefined) return { ...page, entries: found.slice(0, limit), next: next.key };
    if (page.next === undefined) return { ...page, entries: found };
    const token = encodeContinueToken({ revision: page.revision, start: page.next }, selection.prefix);
    rest = { ...rest, continue: token };
  }
}

/** The current objects and the history of a resource. */
type Objects = Pick<Registry, "store" | "cacher">;

/** Reads the requested page. @throws StatusError 410, 504 */
export async function readPage(objects: Objects, selection: Selection, options: ListOptions): Promise<ListPage> {
  const { store, cacher } = objects;
  const { resourceVersion, match, limit } = options;
  if (options.continue !== "") return continuePage(objects, selection, options);
  // A page is read at the version itself, and at the newest one if it is zero.
  const isExact = match === "Exact" || (match === "" && limit > 0);
  if (resourceVersion !== undefined && resourceVersion > 0 && isExact) {
    return exactPage(objects, selection, resourceVersion, limit);
  }
  const isNewest = resourceVersion === undefined || isExact;
  await cacher.whenFresh(() => waitForVersion(store, isNewest ? undefined : resourceVersion), isNewest);
  return pageAt(cacher, selection, { limit });
}

async function exactPage(
  { store, cacher }: Objects,
  selection: Selection,
  version: number,
  limit: number,
): Promise<ListPage> {
  if (version > store.revision) await waitForVersion(store, version);
  try {
    return await pageAt(cacher, selection, { limit, at: version });
  } catch (error) {
    if (error instanceof CompactedError) throw status.expired(staleListText);
    throw error;
  }
}

async function continuePage({ store, cacher }: Objects, selection: Selection, options: ListOptions): Promise<ListPage> {
  const { revision, start } = decodeContinueToken(options.continue, selection.prefix);
  if (revision === -1) {
    await store.readBarrier();
    return pageAt(cacher, selection, { limit: options.limit, start });
  }
  if (revision > store.revision) await waitForVersion(store, revision);
  try {
    return await pageAt(cacher, selection, { limit: options.limit, start, at: revision });
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    throw status.expired(staleContinueText, encodeContinueToken({ revision: -1, start }, selection.prefix));
  }
}

async function pageAt(
  cacher: Cacher,
  selection: Selection,
  { limit, start, at }: { limit: number; start?: Key; at?: number },
): Promise<ListPage> {
  const { prefix, key, pins, matches } = selection;
  const onlyKey = key === undefined ? undefined : (candidate: Key) => candidate === key;
  return cacher.list({
    prefix: key ?? prefix,
    pins,
    isRequest: true,
    ...(start === undefined ? {} : { start }),
    ...(limit > 0 && key === undefined ? { limit } : {}),
    ...(at === undefined ? {} : { at: toRevision(at) }),
    ...(onlyKey === undefined && matches === undefined
      ? {}
      : { matches: (entry) => (onlyKey?.(entry.key) ?? true) && (matches?.(entry) ?? true) }),
  });
}

function pageOnWire(page: ListPage, selection: Selection, options: ListOptions): Parameters<typeof encodeList>[0] {
  const { entries, revision, next, remaining } = page;
  if (next === undefined || options.limit === 0) return { entries, revision };
  const token = encodeContinueToken({ revision, start: next }, selection.prefix);
  const counted = selection.matches === undefined && remaining !== undefined && remaining > 0;
  return { entries, revision, continue: token, ...(counted ? { remaining } : {}) };
}
