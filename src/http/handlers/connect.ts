import { status } from "../../api/status.ts";
import { admissionAttributes } from "../../registry/admission-attributes.ts";
import { onlyForm } from "../../registry/document-forms.ts";
import type { Connector } from "../../registry/endpoint.ts";
import type { HttpResponse } from "../../request/exchange.ts";
import { connectionOptions } from "./connection-options.ts";
import type { ResourceRequestCall } from "./endpoint.ts";
import { writeContext } from "./write-reply.ts";

/** Connects if admission allows it. @throws StatusError 400 for a dry run */
export async function connect(call: ResourceRequestCall, connector: Connector): Promise<HttpResponse> {
  const { request, info } = call;
  if ((request.query.get("dryRun") ?? []).some((value) => value !== "")) {
    throw status.badRequest("dryRun is not supported");
  }
  const subresource = info.subresources.get(request.subresource);
  // The options object of a connection. A container's log is read like an object.
  if (subresource !== undefined && subresource.form !== info.form) {
    await admit(call, connectionOptions(subresource, request.query, proxiedPath(call)));
  }
  return connector(call);
}

async function admit(call: ResourceRequestCall, object: ReturnType<typeof connectionOptions>): Promise<void> {
  const { request, info, parts } = call;
  const attributes = admissionAttributes({
    operation: "CONNECT",
    info,
    subresource: request.subresource,
    namespace: request.namespace,
    name: request.name,
    object,
    oldObject: undefined,
    context: writeContext(call, { dryRun: false }),
    forms: onlyForm,
    onSettled() {},
  });
  await parts.admission.admit(attributes);
  await parts.admission.validate(attributes);
}

/** Returns the rest of the path after `…/proxy`, or "". */
function proxiedPath({ request, info }: ResourceRequestCall): string {
  if (request.subresource !== "proxy") return "";
  const root = request.group === "" ? 3 : 4;
  const before = root + (info.namespaced ? 2 : 0) + 3;
  const rest = request.path.split("/").slice(before).join("/");
  return rest === "" && !request.path.endsWith("/") ? "" : `/${rest}`;
}
