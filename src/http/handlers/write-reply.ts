import type { KubeObject } from "../../api/object-meta.ts";
import { encodeDecoded, encodeObject } from "../../api/codec/encode-object.ts";
import { contentTypeOf } from "../negotiate.ts";
import { managerName } from "../../apply/manager-name.ts";
import type { Representation } from "../../api/codec/representation.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import type { Entry } from "../../api/entry.ts";
import { annotateExchange, header, type HttpResponse } from "../../request/exchange.ts";
import type { WriteOptions } from "./write-options.ts";
import { bytesReply, type ResourceCall, type ResourceRequestCall } from "./endpoint.ts";

/** What the registry has to know of the request besides the object. */
export function writeContext(
  call: ResourceRequestCall,
  { dryRun, fieldManager = "", given }: { dryRun: boolean } & Partial<Pick<WriteOptions, "fieldManager" | "given">>,
): WriteContext {
  const { exchange } = call;
  return {
    user: exchange.user,
    manager: managerName(fieldManager, header(exchange.request, "user-agent")),
    dryRun,
    version: call.info,
    options: given,
    warn: (text) => exchange.warnings.push(text),
    annotate: (key, value) => annotateExchange(exchange, key, value),
  };
}

/** The object that a write answers with: the stored bytes where there are any. */
export function objectReply(
  call: ResourceCall,
  code: number,
  { entry, object }: { entry: Entry | undefined; object: KubeObject },
  representation: Representation,
): HttpResponse {
  const { info, parts, view } = call;
  const now = parts.clock.nowMs();
  if (view !== undefined) {
    const body = encodeDecoded(view.show(object), view.info, representation, now);
    return bytesReply(code, contentTypeOf(representation, false), body);
  }
  const body =
    entry === undefined
      ? encodeDecoded(object, info, representation, now)
      : encodeObject(entry, info, representation, now);
  return bytesReply(code, contentTypeOf(representation, false), body);
}
