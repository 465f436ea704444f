import type { GroupVersionKind } from "../api/gvk.ts";
import type { JsonObject } from "../api/json.ts";
import type { KubeObject } from "../api/object-meta.ts";
import { type ResourceInfo, storedInfo } from "../api/scheme/resource.ts";
import type { AdmissionAttributes, FindPremise } from "./admission.ts";
import { type DocumentForms, storedForms } from "./document-forms.ts";
import { Reinvocation } from "./reinvocation.ts";
import type { SettleListener } from "./settlement.ts";
import type { WriteContext } from "./write-context.ts";

/** A request that is about to be admitted. */
export interface AdmittedRequest {
  readonly operation: AdmissionAttributes["operation"];
  /** The resource in the version in which its objects are stored. */
  readonly info: ResourceInfo;
  readonly subresource: string;
  readonly namespace: string;
  /** Name of the object, if the object itself lacks it. */
  readonly name?: string;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  readonly context: WriteContext;
  /** Options of a deletion; those of other operations are in the context. */
  readonly deleteOptions?: JsonObject;
  /** Forms of the documents; by default those of stored objects. */
  readonly forms?: DocumentForms;
  onSettled(listener: SettleListener): void;
  /** Needed for writes to the store. */
  dependsOn?(premise: FindPremise): void;
}

/** Returns the attributes of a request for admission plugins. */
export function admissionAttributes(request: AdmittedRequest): AdmissionAttributes {
  const { operation, info, subresource, namespace, object, oldObject, context } = request;
  const { version } = context;
  // The context may belong to a request for another resource: an eviction writes a disruption budget.
  const requested = version !== undefined && storedInfo(version) === storedInfo(info) ? version : info;
  return {
    operation,
    info,
    requested,
    kind: documentKind(requested, subresource),
    subresource,
    namespace,
    name: request.name ?? (object ?? oldObject)?.metadata.name ?? "",
    object,
    oldObject,
    forms: request.forms ?? storedForms,
    options: () => optionsOf(request),
    reinvocation: new Reinvocation(),
    user: context.user,
    dryRun: context.dryRun,
    deadlineMs: context.deadlineMs,
    signal: () => context.signal?.(),
    isAbandoned: () => context.isAbandoned?.() === true,
    warn: context.warn,
    annotate: (key, value) => context.annotate?.(key, value),
    webhooksTook: (ms) => context.webhooksTook?.(ms),
    annotateBody: (key, value) => context.annotateBody?.(key, value),
    onSettled: request.onSettled,
    dependsOn: (premise) => request.dependsOn?.(premise),
  };
}

function documentKind(info: ResourceInfo, subresource: string): GroupVersionKind {
  return (subresource === "" ? undefined : info.subresources.get(subresource)?.gvk) ?? info;
}

const optionsKinds = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" } as const;

/** Returns the options of a request. A patch has those of the creation or update that it becomes. */
function optionsOf({ operation, context, deleteOptions }: AdmittedRequest): JsonObject | undefined {
  if (operation === "CONNECT") return undefined;
  const fields = operation === "DELETE" ? deleteOptions : context.options;
  return { kind: optionsKinds[operation], apiVersion: "meta.k8s.io/v1", ...fields };
}
