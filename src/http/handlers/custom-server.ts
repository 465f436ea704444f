import { status } from "../../api/status.ts";
import { noteDeprecation } from "./deprecated-version.ts";
import type { HandlerParts } from "./endpoint.ts";
import type { ResourceServer } from "./resources.ts";
import { type ServerRules, serveResource } from "./serve-resource.ts";

/** Serves the kinds of CustomResourceDefinitions. */
export function customServer(parts: HandlerParts): ResourceServer {
  return (exchange, request) => {
    const info = parts.catalog.find(request.group, request.version, request.resource);
    return info?.form.kind === "structural" ? serveResource({ exchange, request, info, parts }, rules) : undefined;
  };
}

/** Upstream's router does not know these resources, so it does not check the types that they produce. */
const rules: ServerRules = {
  refuseSubresource(call) {
    noteDeprecation(call);
    throw status.notFound({ ...call.info, name: call.request.name });
  },
};
