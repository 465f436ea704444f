import { type FieldError, fieldError } from "../../api/field-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status } from "../../api/status.ts";
import type { UserInfo } from "../../request/user-info.ts";
import type { Authorizer, Decision } from "../../access/authorization/authorizer.ts";
import { reviewQuestion } from "../../access/authorization/review-attributes.ts";
import type { Action } from "../../registry/action.ts";

/** May somebody do that? About any user, anywhere. */
export function reviewAnyone(authorizer: Authorizer): Action {
  return {
    async run(_request, review) {
      const spec = specOf(review);
      refuse(review, [...validateSpec(spec), ...validateSubject(spec), ...validateMetadata(review)]);
      return answer(review, await ask(authorizer, subjectOf(spec), spec));
    },
  };
}

/** About any user, in one namespace: what a namespace's administrator may ask. */
export function reviewInNamespace(authorizer: Authorizer): Action {
  return {
    async run({ namespace }, review) {
      const spec = specOf(review);
      refuse(review, [
        ...validateSpec(spec),
        ...validateSubject(spec),
        ...validateMetadata(review),
        ...validateNamespace(spec, namespace),
      ]);
      return answer(review, await ask(authorizer, subjectOf(spec), spec));
    },
  };
}

/** May the one who asks do that? */
export function reviewAsker(authorizer: Authorizer): Action {
  return {
    async run({ user }, review) {
      const spec = specOf(review);
      refuse(review, [...validateSpec(spec), ...validateMetadata(review)]);
      return answer(review, await ask(authorizer, user, spec));
    },
  };
}

interface Asked {
  readonly decision: Decision;
  readonly errors: readonly string[];
}

async function ask(authorizer: Authorizer, user: UserInfo, spec: JsonObject): Promise<Asked> {
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

function specOf({ spec }: KubeObject): JsonObject {
  return isJsonObject(spec) ? spec : {};
}

function subjectOf({ user, uid, groups, extra }: JsonObject): UserInfo {
  const extras = Object.entries(isJsonObject(extra) ? extra : {});
  return {
    name: typeof user === "string" ? user : "",
    uid: typeof uid === "string" ? uid : "",
    groups: strings(groups),
    extra: new Map(extras.map(([key, values]) => [key, strings(values)])),
  };
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function refuse(review: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length === 0) return;
  throw status.invalid({ group: "authorization.k8s.io", kind: review.kind, name: "" }, errors);
}

function validateSpec({ resourceAttributes, nonResourceAttributes }: JsonObject): FieldError[] {
  const forResource = isJsonObject(resourceAttributes);
  const forPath = isJsonObject(nonResourceAttributes);
  if (forResource && forPath) {
    const detail = "cannot be specified in combination with resourceAttributes";
    return [fieldError.invalid("spec.nonResourceAttributes", nonResourceAttributes, detail)];
  }
  if (!forResource && !forPath) {
    const detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    return [fieldError.invalid("spec.resourceAttributes", null, detail)];
  }
  if (!forResource) return [];
  return ["fieldSelector", "labelSelector"].flatMap((name) => validateSelector(name, resourceAttributes[name]));
}

function validateSelector(name: string, selector: JsonValue | undefined): FieldError[] {
  if (!isJsonObject(selector)) return [];
  const path = `spec.resourceAttributes.${name}`;
  const { rawSelector = "", requirements } = selector;
  const listed = Array.isArray(requirements) ? requirements.length : 0;
  if (rawSelector !== "" && listed > 0) {
    return [
      fieldError.invalid(`${path}.rawSelector`, rawSelector, "may not specified at the same time as requirements"),
    ];
  }
  if (rawSelector !== "" || listed > 0) return [];
  const detail = `when ${path} is specified, requirements or rawSelector is required`;
  return [fieldError.required(`${path}.requirements`, detail)];
}

function validateSubject({ user = "", groups }: JsonObject): FieldError[] {
  if (user !== "" || strings(groups).length > 0) return [];
  return [fieldError.invalid("spec.user", "", "at least one of user or group must be specified")];
}

function validateNamespace({ resourceAttributes, nonResourceAttributes }: JsonObject, namespace: string): FieldError[] {
  const errors: FieldError[] = [];
  if (isJsonObject(resourceAttributes) && (resourceAttributes["namespace"] ?? "") !== namespace) {
    const given = resourceAttributes["namespace"] ?? "";
    errors.push(fieldError.invalid("spec.resourceAttributes.namespace", given, "must match metadata.namespace"));
  }
  if (isJsonObject(nonResourceAttributes)) {
    const detail = "disallowed on this kind of request";
    errors.push(fieldError.invalid("spec.nonResourceAttributes", nonResourceAttributes, detail));
  }
  return errors;
}

/** A review is no object and has no name; a local one is in a namespace. */
function validateMetadata({ metadata }: KubeObject): FieldError[] {
  const { namespace: _namespace, managedFields: _managedFields, ...rest } = metadata;
  if (Object.keys(rest).length === 0) return [];
  return [fieldError.invalid("metadata", rest as JsonObject, "must be empty")];
}
