import { forbiddenError } from "../../access/authorization/forbidden.ts";
import { encodeStatus } from "../../api/codec/encode-object.ts";
import type { Representation } from "../../api/codec/representation.ts";
import { successStatus } from "../../api/status.ts";
import { removeUnreadable } from "../../registry/unreadable.ts";
import { annotateExchange, type HttpResponse } from "../../request/exchange.ts";
import { contentTypeOf } from "../negotiate.ts";
import { readDeleteOptions, warnAboutDelete } from "./delete-options.ts";
import { bytesReply, negotiateFor, type ResourceCall, type VerbHandler } from "./endpoint.ts";
import { objectReply, writeContext } from "./write-reply.ts";

/** Answers DELETE of one object. */
export const remove: VerbHandler = async (call) => {
  const { request, registry } = call;
  const representation = negotiateFor(call, "object");
  const options = await readDeleteOptions(call);
  if (options.ignoreReadErrors === true) return removeWhatCannotBeRead(call, representation);
  const context = writeContext(call, options);
  warnAboutDelete(call, options);
  const result = await registry.delete(request.namespace, request.name, options, context);
  if (result.answer.kind === "status") {
    const body = encodeStatus(result.answer.status, representation);
    return bytesReply(result.code, contentTypeOf(representation, false), body);
  }
  return objectReply(call, result.code, result.answer, representation);
};

const unreadableDeleteVerb = "unsafe-delete-ignore-read-errors";

/** Requires a verb besides `delete`, because other objects may rely on this one. */
async function removeWhatCannotBeRead(call: ResourceCall, representation: Representation): Promise<HttpResponse> {
  const { exchange, request, registry, parts } = call;
  const attributes = { ...request, verb: unreadableDeleteVerb };
  const decision = await parts.unreadableDeletes?.authorize(exchange.user, attributes);
  if (decision?.kind !== "allow") {
    throw forbiddenError(exchange.user, attributes, decision?.reason ?? "");
  }
  await removeUnreadable(registry, {
    namespace: request.namespace,
    name: request.name,
  });
  annotateExchange(exchange, "apiserver.k8s.io/unsafe-delete-ignore-read-error", "");
  const removed = successStatus({ name: request.name, kind: registry.info.kind });
  return bytesReply(200, contentTypeOf(representation, false), encodeStatus(removed, representation));
}
