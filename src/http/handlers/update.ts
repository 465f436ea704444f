import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { cloneDecoded } from "../../api/schema/given-empty.ts";
import { authorizeCreate } from "./authorize-create.ts";
import { negotiateFor, type VerbHandler } from "./endpoint.ts";
import { readObjectBody } from "./object-body.ts";
import { alignNamespace, refuseName, requireSameName } from "./object-identity.ts";
import { toStoredVersion } from "./stored-version.ts";
import { throughView, viewTracker } from "./through-view.ts";
import { parseWriteOptions } from "./write-options.ts";
import { objectReply, writeContext } from "./write-reply.ts";

/** Answers PUT, which replaces the object, or creates a missing one if the resource allows it. */
export const update: VerbHandler = async (call) => {
  const { request, info, registry, strategy, view } = call;
  const representation = negotiateFor(call, "object");
  const options = parseWriteOptions(request.query, "UpdateOptions");
  const { form } = view?.info ?? info;
  const internal = view === undefined ? info.storedAs?.info : undefined;
  const object = await readObjectBody(call, { gvk: view?.info ?? info, form, internal }, options.fieldValidation);
  requireSameName(call, object);
  alignNamespace(call, object);
  // Upstream looks at the body first.
  refuseName(request.name);
  const context = writeContext(call, options);
  const copy = () => cloneDecoded(object as unknown as JsonObject) as unknown as KubeObject;
  const { namespace, name, subresource } = request;
  if (strategy.allowCreateOnUpdate) {
    const make = () => toStoredVersion(copy(), info);
    const upserted = await registry.upsert(namespace, name, make, context, {
      strategy,
      subresource,
      makesAnew: true,
      authorize: () => authorizeCreate(call),
    });
    return objectReply(call, upserted.created ? 201 : 200, upserted, representation);
  }
  const { transform, options: viewOptions } = throughView(call, copy, viewTracker(call, context));
  const result = await registry.update(namespace, name, transform, context, {
    strategy,
    subresource,
    ...viewOptions,
  });
  return objectReply(call, 200, result, representation);
};
