import { encodeDecodedInTurns, encodeObjectInTurns } from "../../api/codec/encode-object.ts";
import { prepareEntry } from "../../api/codec/prepare-entries.ts";
import type { Representation } from "../../api/codec/representation.ts";
import type { Entry } from "../../api/entry.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { inServedVersion } from "../../api/scheme/conversion/convert.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { managerName } from "../../apply/manager-name.ts";
import { type Eventual, followedBy } from "../../process/eventual.ts";
import type { WriteContext } from "../../registry/write-context.ts";
import { annotateExchange, type HttpResponse, header } from "../../request/exchange.ts";
import { contentTypeOf } from "../negotiate.ts";
import { bytesReply, type ResourceCall, type ResourceRequestCall } from "./endpoint.ts";
import type { WriteOptions } from "./write-options.ts";

/** Returns the parts of the request that the registry needs besides the object. */
export function writeContext(
  call: ResourceRequestCall,
  { dryRun, fieldManager = "", given }: { dryRun: boolean } & Partial<Pick<WriteOptions, "fieldManager" | "given">>,
): WriteContext {
  const { exchange } = call;
  return {
    user: exchange.user,
    manager: managerName(fieldManager, header(exchange.request, "user-agent")),
    dryRun,
    verb: exchange.info.verb,
    version: call.info,
    options: given,
    deadlineMs: exchange.deadlineMs,
    signal: () => exchange.request.signal,
    isAbandoned: () => exchange.request.isAborted,
    warn: (text) => exchange.warnings.push(text),
    annotate: (key, value) => annotateExchange(exchange, key, value),
    webhooksTook(ms) {
      exchange.webhookMs = (exchange.webhookMs ?? 0) + ms;
    },
    annotateBody(key, value) {
      if (exchange.audit?.recordsBodies === true) annotateExchange(exchange, key, value());
    },
  };
}

/** Returns the object in a write's answer, as the stored bytes if there are any. */
export function objectReply(
  call: ResourceCall,
  code: number,
  { entry, object }: { entry: Entry | undefined; object: KubeObject },
  representation: Representation,
): Eventual<HttpResponse> {
  const { info, parts, view } = call;
  const now = parts.clock.nowMs();
  const reply = (body: Uint8Array) => bytesReply(code, contentTypeOf(representation, false), body);
  if (view !== undefined) {
    return followedBy(servedObject(object, info), (served) =>
      followedBy(encodeDecodedInTurns(view.show(served), view.info, representation, now), reply),
    );
  }
  if (entry !== undefined) {
    return followedBy(
      prepareEntry(entry, info, () => call.exchange.request.signal),
      (prepared) => followedBy(encodeObjectInTurns(prepared, info, representation, now), reply),
    );
  }
  return followedBy(servedObject(object, info), (served) =>
    followedBy(encodeDecodedInTurns(served, info, representation, now), reply),
  );
}

/** Returns an object that is not from the store in the form that the encoder needs. */
function servedObject(object: KubeObject, info: ResourceInfo): Eventual<KubeObject> {
  return info.converter === undefined ? object : inServedVersion(object, info);
}
