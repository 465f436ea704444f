import type { Authorizer, Decision } from "../../access/authorization/authorizer.ts";
import { reviewQuestion } from "../../access/authorization/review-attributes.ts";
import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type * as authorizationV1 from "../../api/types/authorization-v1.ts";
import type { Action } from "../../registry/action.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { validateSelectors } from "./review-selectors.ts";

/** A review whose spec names the user. */
type SubjectReview = authorizationV1.SubjectAccessReview;
type Spec = authorizationV1.SubjectAccessReviewSpec;

/** Answers whether any user may do something, anywhere. */
export function reviewAnyone(authorizer: Authorizer): Action {
  return {
    async run(_request, body) {
      const { spec, metadata } = body as unknown as SubjectReview;
      refuse([
        ...validateSpec(spec),
        ...validateSubject(spec),
        ...validateSelectors(spec),
        ...validateMetadata(metadata),
      ]);
      return answer(body, await ask(authorizer, subjectOf(spec), spec));
    },
  };
}

/** Answers whether any user may do something in one namespace, which its administrators may ask. */
export function reviewInNamespace(authorizer: Authorizer): Action {
  return {
    async run({ namespace }, body) {
      const { spec, metadata } = body as unknown as SubjectReview;
      refuse([
        ...validateSpec(spec),
        ...validateSubject(spec),
        ...validateSelectors(spec),
        ...validateMetadata(metadata, "namespace"),
        ...validateNamespace(spec, namespace),
      ]);
      return answer(body, await ask(authorizer, subjectOf(spec), spec));
    },
  };
}

/** Answers whether the caller may do something. */
export function reviewAsker(authorizer: Authorizer): Action {
  return {
    async run({ user }, body) {
      const { spec, metadata } = body as unknown as authorizationV1.SelfSubjectAccessReview;
      refuse([...validateSpec(spec), ...validateSelectors(spec), ...validateMetadata(metadata)]);
      return answer(body, await ask(authorizer, user, spec));
    },
  };
}

interface Asked {
  readonly decision: Decision;
  readonly errors: readonly string[];
}

async function ask(authorizer: Authorizer, user: UserInfo, spec: Spec): Promise<Asked> {
  const { attributes, errors } = reviewQuestion(spec);
  try {
    return { decision: await authorizer.authorize(user, attributes), errors };
  } catch (error) {
    return { decision: { kind: "noOpinion", reason: "" }, errors: [(error as Error).message, ...errors] };
  }
}

function answer(review: KubeObject, { decision, errors }: Asked): KubeObject {
  return {
    ...review,
    status: {
      allowed: decision.kind === "allow",
      ...(decision.kind === "deny" ? { denied: true } : {}),
      ...(decision.reason === "" ? {} : { reason: decision.reason }),
      ...(errors.length === 0 ? {} : { evaluationError: errors.join("; ") }),
    },
  };
}

function subjectOf({ user = "", uid = "", groups = [], extra = {} }: Spec): UserInfo {
  return {
    name: user,
    uid,
    groups,
    extra: new Map(Object.entries(extra).map(([key, values]) => [key, values ?? []])),
  };
}

/** Upstream leaves the kind out of these refusals. */
function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw status.invalid({ group: "authorization.k8s.io", kind: "", name: "" }, errors);
}

function validateSpec({ resourceAttributes, nonResourceAttributes }: Spec): FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const detail = "cannot be specified in combination with resourceAttributes";
    return [fieldError.invalid("spec.nonResourceAttributes", shownPath(nonResourceAttributes), detail)];
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return [];
  const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
  return [fieldError.invalid("spec.resourceAttributes", null, detail)];
}

function validateSubject({ user = "", groups = [] }: Spec): FieldError[] {
  if (user !== "" || groups.length > 0) return [];
  return [fieldError.invalid("spec.user", "", "at least one of user or group must be specified")];
}

function validateNamespace({ resourceAttributes, nonResourceAttributes }: Spec, namespace: string): FieldError[] {
  const errors: FieldError[] = [];
  const asked = resourceAttributes === undefined ? namespace : (resourceAttributes.namespace ?? "");
  if (asked !== namespace) {
    errors.push(fieldError.invalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"));
  }
  if (nonResourceAttributes !== undefined) {
    const detail = "disallowed on this kind of request";
    errors.push(fieldError.invalid("spec.nonResourceAttributes", shownPath(nonResourceAttributes), detail));
  }
  return errors;
}

function shownPath({ path = "", verb = "" }: authorizationV1.NonResourceAttributes): JsonObject {
  return { Path: path, Verb: verb };
}

/** Fields of metadata in their order in JSON. */
const metadataOrder: readonly (keyof KubeObject["metadata"] | "selfLink")[] = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

/** A review is not stored, so it has no metadata but its managed fields, and a namespace if it is local. */
function validateMetadata(metadata: KubeObject["metadata"], scope?: "namespace"): FieldError[] {
  const fields = metadata as unknown as JsonObject;
  const present = metadataOrder.filter((name) => fields[name] !== undefined);
  if (present.every((name) => name === "managedFields" || name === scope)) return [];
  const shown = Object.fromEntries(present.map((name) => [name, fields[name] ?? null]));
  const detail = scope === undefined ? "must be empty" : `must be empty except for ${scope}`;
  return [fieldError.invalid("metadata", shown, detail)];
}
