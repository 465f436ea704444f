import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import { pathSegmentProblems } from "../../api/validation/names.ts";
import type { ResourceRequestCall } from "./endpoint.ts";

/** Sets the body's namespace to the URL's. @throws StatusError 400 if they differ */
export function alignNamespace(call: ResourceRequestCall, object: KubeObject): void {
  const { info, request } = call;
  if (!info.namespaced) {
    delete object.metadata.namespace;
    return;
  }
  const namespace = object.metadata.namespace ?? "";
  if (namespace !== "" && namespace !== request.namespace) {
    throw status.badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  object.metadata.namespace = request.namespace;
}

/** @throws StatusError 400 for a name that no object can have */
export function refuseName(name: string): void {
  const problems = pathSegmentProblems(name);
  if (problems.length === 0) return;
  throw status.badRequest(`Name parameter invalid: ${JSON.stringify(name)}: ${problems.join(";")}`);
}

/** @throws StatusError 400 if the body of an update does not name the object of the URL */
export function requireSameName(call: ResourceRequestCall, object: KubeObject): void {
  const { name: expected } = call.request;
  const name = object.metadata.name ?? "";
  if (name === "") {
    throw status.badRequest(
      `the name of the object (${expected} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (name !== expected) {
    throw status.badRequest(`the name of the object (${name}) does not match the name on the URL (${expected})`);
  }
}
