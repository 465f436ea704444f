import { systemMastersGroup } from "../../access/authorization/system-masters.ts";
import { fieldError } from "../../api/field-error.ts";
import { type GroupResource, parseApiVersion } from "../../api/gvk.ts";
import { equalJson } from "../../api/json.ts";
import { status } from "../../api/status.ts";
import type {
  ParamKind,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicyBindingSpec,
} from "../../api/types/admissionregistration-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.ts";
import type { PolicyParts } from "./policy-parts.ts";

const group = "admissionregistration.k8s.io";
const policies = new Set(["validatingadmissionpolicies", "mutatingadmissionpolicies"]);
/** The policies of each sort of bindings. */
const policiesOf: Readonly<Record<string, string>> = {
  validatingadmissionpolicybindings: "validatingadmissionpolicies",
  mutatingadmissionpolicybindings: "mutatingadmissionpolicies",
};

/** The known part of a resource of parameters; `*` means all. */
interface ParamTarget extends GroupResource {
  readonly version: string;
  /** Why it is not known exactly. */
  readonly unknown?: string;
}

/**
 * Keeps users from reading, by way of a policy, parameters that they may not read themselves. It cannot be disabled.
 */
export function paramPermission(parts: PolicyParts): AdmissionPlugin {
  return {
    name: "ParamPermission",
    validate(attributes) {
      const { info, operation, subresource, object, user } = attributes;
      if (info.group !== group || operation === "DELETE" || subresource !== "" || object === undefined) return;
      if (user.groups.includes(systemMastersGroup)) return;
      if (policies.has(info.resource)) return checkPolicy(parts, attributes);
      return policiesOf[info.resource] === undefined ? undefined : checkBinding(parts, attributes);
    },
  };
}

async function checkPolicy(parts: PolicyParts, attributes: AdmissionAttributes): Promise<void> {
  const paramKind = paramKindOf(attributes.object);
  if (paramKind === undefined || isSame(paramKind, paramKindOf(attributes.oldObject))) return;
  const { unknown: _unknown, ...target } = targetOf(paramKind, parts);
  if (await mayRead(parts, attributes, { ...target, verb: "get", name: "*", namespace: "*" })) return;
  const { kind, apiVersion } = paramKind;
  const who = attributes.user.name;
  throw refusal(
    attributes,
    "spec.paramKind",
    `user ${who} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
  );
}

async function checkBinding(parts: PolicyParts, attributes: AdmissionAttributes): Promise<void> {
  const old = bindingSpecOf(attributes.oldObject);
  const { paramRef, policyName = "" } = bindingSpecOf(attributes.object);
  if (paramRef === undefined || (isSame(paramRef, old.paramRef) && policyName === old.policyName)) return;
  const resource = policiesOf[attributes.info.resource] ?? "";
  const policy = parts.lookup.get({ group, resource }, "", policyName);
  const { unknown, ...target } =
    policy === undefined
      ? { ...everything, unknown: `unable to get policy ${policyName}` }
      : targetOf(paramKindOf(policy), parts);
  const { name = "", namespace = "" } = paramRef;
  const verb = name === "" ? "list" : "get";
  if (await mayRead(parts, attributes, { ...target, verb, name, namespace })) return;
  const who = attributes.user.name;
  const why =
    unknown === undefined
      ? `user ${who} does not have "${verb}" permission on the object referenced by paramRef`
      : `${unknown} to determine minimum required permissions and user ${who} does not have "${verb}" permission for all groups, versions and resources`;
  throw refusal(attributes, "spec.paramRef", why);
}

/** Returns the parameters' kind of a policy. Both kinds of policies have it in the same place. */
function paramKindOf(policy: AdmissionAttributes["object"]): ParamKind | undefined {
  return (policy as ValidatingAdmissionPolicy | undefined)?.spec?.paramKind;
}

function bindingSpecOf(binding: AdmissionAttributes["object"]): Partial<ValidatingAdmissionPolicyBindingSpec> {
  return (binding as ValidatingAdmissionPolicyBinding | undefined)?.spec ?? {};
}

function isSame(a: object, b: object | undefined): boolean {
  return b !== undefined && equalJson({ ...a }, { ...b });
}

const everything: ParamTarget = { group: "*", version: "*", resource: "*" };

/** A policy without parameters says nothing about what a binding refers to. */
function targetOf(paramKind: ParamKind | undefined, { catalog }: PolicyParts): ParamTarget {
  if (paramKind === undefined) return everything;
  const { apiVersion = "", kind = "" } = paramKind;
  const shown = `&ParamKind{APIVersion:${apiVersion},Kind:${kind},}`;
  const parsed = parseApiVersion(apiVersion);
  if (parsed === undefined) return { ...everything, unknown: `unable to parse paramKind ${shown}` };
  const info = catalog.findKind({ ...parsed, kind });
  if (info !== undefined) return { ...parsed, resource: info.resource };
  return { ...parsed, resource: "*", unknown: `unable to resolve paramKind ${shown}` };
}

async function mayRead(
  { authorizer }: PolicyParts,
  { user }: AdmissionAttributes,
  question: GroupResource & {
    readonly version: string;
    readonly verb: string;
    readonly name: string;
    readonly namespace: string;
  },
): Promise<boolean> {
  try {
    return (await authorizer.authorize(user, { kind: "resource", subresource: "", ...question })).kind === "allow";
  } catch {
    // An authorizer that fails never allows.
    return false;
  }
}

function refusal({ info, object }: AdmissionAttributes, field: string, why: string): Error {
  const ref = { group: info.group, kind: info.kind, name: object?.metadata.name ?? "" };
  return status.invalid(ref, [fieldError.forbidden(field, why)]);
}
