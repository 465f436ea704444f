import type { GroupVersionKind } from "../../api/gvk.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import { AuthorizerValue, type Json, jsonValue, ResourceCheckValue, type Value } from "../../cel/index.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import type { UserInfo } from "../../request/user-info.ts";
import type { MatchedResource } from "../matching/matched-resource.ts";
import { namespaceOf } from "../matching/matched-resource.ts";
import type { AccessChecks } from "./access-checks.ts";

/** A request in the version that a policy or webhook matches, as its expressions see it. */
export interface ExpressionRequest {
  readonly attributes: AdmissionAttributes;
  readonly matched: MatchedResource;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  /** Undefined for requests of the cluster, and for Namespaces themselves. */
  readonly namespaceObject: KubeObject | undefined;
  readonly checks: AccessChecks;
}

/** The values of the variables of expressions, made when they are first read. */
export class RequestValues {
  readonly request: ExpressionRequest;
  readonly #made = new Map<string, Value>();

  constructor(request: ExpressionRequest) {
    this.request = request;
  }

  /** Returns undefined if requests have no variable of this name. */
  find(name: string): Value | undefined {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const value = this.#make(name);
    if (value !== undefined) this.#made.set(name, value);
    return value;
  }

  #make(name: string): Value | undefined {
    const { attributes, matched, object, oldObject, namespaceObject, checks } = this.request;
    switch (name) {
      case "object":
        return documentValue(object);
      case "oldObject":
        return documentValue(oldObject);
      case "request":
        return jsonValue(admissionRequest(attributes, matched) as Json);
      case "namespaceObject":
        return namespaceObject === undefined ? null : jsonValue(visibleNamespace(namespaceObject));
      case "authorizer":
        return new AuthorizerValue(checks.user, checks);
      case "authorizer.requestResource":
        return ResourceCheckValue.ofRequest(new AuthorizerValue(checks.user, checks), requestResource(attributes));
      default:
        return undefined;
    }
  }
}

function documentValue(document: KubeObject | undefined): Value {
  return document === undefined ? null : jsonValue(document as unknown as Json);
}

function requestResource(attributes: AdmissionAttributes) {
  const { requested, subresource, name } = attributes;
  const { group, resource } = requested;
  return { group, resource, subresource, namespace: namespaceOf(attributes), name };
}

/** Returns the AdmissionRequest that expressions see. Empty texts are left out, as in the messages to webhooks. */
export function admissionRequest(attributes: AdmissionAttributes, { info, kind }: MatchedResource): JsonObject {
  const { requested, subresource, operation, name, user, dryRun } = attributes;
  const namespace = namespaceOf(attributes);
  return {
    uid: "",
    kind: kindFields(kind),
    resource: resourceFields(info),
    ...present("subResource", subresource),
    requestKind: kindFields(attributes.kind),
    requestResource: resourceFields(requested),
    ...present("requestSubResource", subresource),
    ...present("name", name),
    ...present("namespace", namespace),
    operation,
    userInfo: userFields(user),
    object: null,
    oldObject: null,
    dryRun,
    options: attributes.options() ?? null,
  };
}

function kindFields({ group, version, kind }: GroupVersionKind): JsonObject {
  return { group, version, kind };
}

function resourceFields({ group, version, resource }: ResourceInfo): JsonObject {
  return { group, version, resource };
}

function userFields({ name, uid, groups, extra }: UserInfo): JsonObject {
  const fields: JsonObject = { ...present("username", name), ...present("uid", uid) };
  if (groups.length > 0) fields["groups"] = [...groups];
  if (extra.size > 0) fields["extra"] = Object.fromEntries([...extra].map(([key, values]) => [key, [...values]]));
  return fields;
}

function present(name: string, text: string): JsonObject {
  return text === "" ? {} : { [name]: text };
}

/** Fields of metadata that say how a namespace is managed stay out of sight. */
function visibleNamespace({ metadata, spec, status }: KubeObject): Json {
  const { managedFields: _managedFields, ownerReferences: _ownerReferences, ...shown } = metadata;
  return { metadata: shown as unknown as Json, spec: (spec ?? {}) as Json, status: (status ?? {}) as Json } as Json;
}

/** Returns the request as match conditions see it: without its namespace, and by the resource that the client named. */
export function conditionRequest(request: ExpressionRequest): ExpressionRequest {
  const { attributes, matched } = request;
  return { ...request, namespaceObject: undefined, matched: { info: attributes.requested, kind: matched.kind } };
}
