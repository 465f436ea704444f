import { status } from "../../api/status.ts";
import { type PatchTypes, parsePatchType } from "../../apply/patch/patch-type.ts";
import { header } from "../../request/exchange.ts";
import { producedTypes, refuseUnproduced } from "../produced-types.ts";
import type { HandlerParts } from "./endpoint.ts";
import type { ResourceServer } from "./resources.ts";
import { type ServerRules, serveResource } from "./serve-resource.ts";

/** Serves the built-in kinds. */
export function builtInServer(parts: HandlerParts): ResourceServer {
  return (exchange, request) => {
    const info = parts.catalog.find(request.group, request.version, request.resource);
    return info?.form.kind === "struct" ? serveResource({ exchange, request, info, parts }, rules) : undefined;
  };
}

const rules: ServerRules = {
  refuseSubresource() {
    throw status.resourceNotServed();
  },
  refuseMediaTypes({ exchange, request: { verb }, parts }, endpoint) {
    if (endpoint.kind === "connection") return;
    if (verb === "patch") parsePatchType(header(exchange.request, "content-type") ?? "", patchTypes(parts));
    const isCollection = verb === "list" || verb === "watch";
    const produced = isCollection ? producedTypes.collections : producedTypes.documents;
    refuseUnproduced(header(exchange.request, "accept"), produced, parts.cbor);
  },
};

function patchTypes({ cbor }: HandlerParts): PatchTypes {
  return { strategic: true, cbor };
}
