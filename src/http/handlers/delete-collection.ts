import { encodeList, measuredList } from "../../api/codec/encode-list.ts";
import { prepareEntries } from "../../api/codec/prepare-entries.ts";
import { fieldError } from "../../api/field-error.ts";
import { StatusError, status } from "../../api/status.ts";
import { ignoreReadErrorsOption } from "../../registry/delete-options.ts";
import { selectionOf } from "../../registry/selection.ts";
import { contentTypeOf } from "../negotiate.ts";
import { readDeleteOptions, warnAboutDelete } from "./delete-options.ts";
import { negotiateFor, type VerbHandler } from "./endpoint.ts";
import { readSelected } from "./list.ts";
import { parseListOptions } from "./list-options.ts";
import { writeContext } from "./write-reply.ts";

/**
 * Answers DELETE of a collection. Deletes one object after the other and returns the list. As upstream, it is not atomic.
 */
export const deleteCollection: VerbHandler = async (call) => {
  const { exchange, request, info, registry, parts } = call;
  if (info.namespaced && request.namespace === "") throw status.methodNotAllowed();
  const representation = negotiateFor(call, "list");
  const listOptions = parseListOptions(request.query, info, false);
  const options = await readDeleteOptions(call);
  if (options.ignoreReadErrors === true) {
    const text = "is not allowed with DELETECOLLECTION, try again after removing the option";
    throw status.invalidOptions("DeleteOptions", [fieldError.invalid(ignoreReadErrorsOption, true, text)]);
  }
  const selection = selectionOf(info, request.namespace, request.name, listOptions);
  const page = await readSelected(call, selection, listOptions);
  const context = writeContext(call, options);
  warnAboutDelete(call, options);
  for (const { key } of page.entries) {
    if (exchange.request.signal.aborted) break;
    const name = key.slice(key.lastIndexOf("/") + 1);
    try {
      await registry.delete(request.namespace, name, options, context);
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 404) throw error;
    }
  }
  const { revision } = page;
  const entries = await prepareEntries(page.entries, info, () => exchange.request.signal);
  const deleted = await measuredList({ entries, revision }, info, representation);
  return {
    kind: "reply",
    code: 200,
    headers: [["content-type", contentTypeOf(representation, false)]],
    body: encodeList(deleted, info, representation, parts.clock.nowMs()),
  };
};
