import { negotiateFor, type VerbHandler } from "./endpoint.ts";
import { readObjectBody } from "./object-body.ts";
import { alignNamespace } from "./object-identity.ts";
import { toStoredVersion } from "./stored-version.ts";
import { parseWriteOptions } from "./write-options.ts";
import { objectReply, writeContext } from "./write-reply.ts";

/** Answers POST to a collection: 201 with the stored object. */
export const create: VerbHandler = async (call) => {
  const { request, info, registry } = call;
  const representation = negotiateFor(call, "object");
  const options = parseWriteOptions(request.query, "CreateOptions");
  const object = await readObjectBody(
    call,
    { gvk: info, form: info.form, internal: info.storedAs?.info },
    options.fieldValidation,
  );
  alignNamespace(call, object);
  const context = writeContext(call, options);
  const result = await registry.create(await toStoredVersion(object, info), request.namespace, context);
  return objectReply(call, 201, result, representation);
};
