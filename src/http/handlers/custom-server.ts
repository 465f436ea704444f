import { status } from "../../api/status.ts";
import { followedBy } from "../../process/eventual.ts";
import { runSliced } from "../../process/sliced.ts";
import { noteDeprecation } from "./deprecated-version.ts";
import type { HandlerParts } from "./endpoint.ts";
import type { ResourceServer } from "./resources.ts";
import { type ServerRules, serveResource } from "./serve-resource.ts";

/** Serves the kinds of CustomResourceDefinitions. */
export function customServer(parts: HandlerParts): ResourceServer {
  return (exchange, request) => {
    const info = parts.catalog.find(request.group, request.version, request.resource);
    if (info?.form.kind !== "structural") return undefined;
    const serve = () => serveResource({ exchange, request, info, parts }, rules);
    return writesDocuments.has(request.verb) ? followedBy(runSliced(info.form.prepare()), serve) : serve();
  };
}

/** Verbs that need the schema. Others mostly do without, so that kinds that are only read cost little memory. */
const writesDocuments: ReadonlySet<string> = new Set(["create", "update", "patch"]);

/** Upstream's router does not know these resources, so it does not check the types that they produce. */
const rules: ServerRules = {
  refuseSubresource(call) {
    noteDeprecation(call);
    throw status.notFound({ ...call.info, name: call.request.name });
  },
};
