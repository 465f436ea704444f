import { encodeStatus } from "../../codec/encode-object.ts";
import { contentTypeOf } from "../../codec/negotiate.ts";
import { readDeleteOptions } from "./delete-options.ts";
import { bytesReply, negotiateFor, type VerbHandler } from "./endpoint.ts";
import { objectReply, writeContext } from "./write-reply.ts";

/** DELETE of one object. */
export const remove: VerbHandler = async (call) => {
  const { request, registry } = call;
  const representation = negotiateFor(call, "object");
  const options = await readDeleteOptions(call);
  const context = writeContext(call, options.dryRun, "");
  const result = await registry.delete(request.namespace, request.name, options, context);
  if (result.answer.kind === "status") {
    const body = encodeStatus(result.answer.status, representation);
    return bytesReply(result.code, contentTypeOf(representation, false), body);
  }
  return objectReply(call, result.code, result.answer, representation);
};
