import { encodeDecoded, encodeStatus } from "../../api/codec/encode-object.ts";
import type { Representation } from "../../api/codec/representation.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { Status } from "../../api/status.ts";
import type { Action } from "../../registry/action.ts";
import { admissionAttributes } from "../../registry/admission-attributes.ts";
import { onlyForm } from "../../registry/document-forms.ts";
import { ownershipOfDocument } from "../../registry/field-ownership.ts";
import { dropRepeatedOwners } from "../../registry/repeated-owners.ts";
import { setManagedFields, wipeSystemFields } from "../../registry/system-fields.ts";
import type { HttpResponse } from "../../request/exchange.ts";
import { contentTypeOf } from "../negotiate.ts";
import { bytesReply, negotiateFor, type ResourceRequestCall } from "./endpoint.ts";
import { readObjectBody } from "./object-body.ts";
import { alignNamespace } from "./object-identity.ts";
import { parseWriteOptions } from "./write-options.ts";
import { writeContext } from "./write-reply.ts";

/** Answers POST to an action with 201 and its result. `bodyInfo` is the resource in the version of the body. */
export async function runAction(
  call: ResourceRequestCall,
  action: Action,
  bodyInfo: ResourceInfo,
): Promise<HttpResponse> {
  const { request, info, parts } = call;
  const representation = negotiateFor({ ...call, info: bodyInfo }, "object", { tables: false });
  const options = parseWriteOptions(request.query, "CreateOptions");
  const body = await readObjectBody(
    call,
    { gvk: bodyInfo, form: bodyInfo.form, aliases: action.aliases },
    options.fieldValidation,
  );
  alignNamespace(call, body);
  bodyInfo.form.applyDefaults(body as unknown as JsonObject);
  const context = writeContext(call, options);
  const { subresource, namespace } = request;
  dropRepeatedOwners(body, context.warn, "");
  if (subresource === "" || action.keepsSystemFields !== true) wipeSystemFields(body);
  const writer = { manager: context.manager, subresource, version: bodyInfo, nowMs: parts.clock.nowMs() };
  setManagedFields(body, await ownershipOfDocument(bodyInfo).afterUpdate(undefined, body, writer));
  const attributes = admissionAttributes({
    operation: "CREATE",
    info,
    subresource,
    namespace,
    name: request.name === "" ? (body.metadata.name ?? "") : request.name,
    object: body,
    oldObject: undefined,
    context,
    forms: onlyForm,
    // Nothing is stored, so there is nothing to wait for.
    onSettled() {},
  });
  await parts.admission.admit(attributes);
  await parts.admission.validate(attributes);
  const answer = await action.run({ ...context, info, subresource, namespace, name: request.name }, body);
  return answerReply(answer, bodyInfo, representation, parts.clock.nowMs());
}

function answerReply(
  answer: KubeObject | Status,
  bodyInfo: ResourceInfo,
  representation: Representation,
  nowMs: number,
): HttpResponse {
  const bytes = isStatus(answer)
    ? encodeStatus(answer.code === undefined ? { ...answer, code: 201 } : answer, representation)
    : encodeDecoded(answer, bodyInfo, representation, nowMs);
  return bytesReply(201, contentTypeOf(representation, false), bytes);
}

function isStatus(answer: KubeObject | Status): answer is Status {
  return answer.kind === "Status" && answer.apiVersion === "v1";
}
