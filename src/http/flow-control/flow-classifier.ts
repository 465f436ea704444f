import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from "../../api/types/flowcontrol-v1.ts";
import type { NonResourceRequest, RequestInfo, ResourceRequest } from "../../request/request-info.ts";
import type { UserInfo } from "../../request/user-info.ts";

type Rule = Omit<PolicyRulesWithSubjects, "subjects">;

/** The rules of one schema that concern a user. */
interface Candidate {
  readonly schema: FlowSchema;
  readonly rules: readonly Rule[];
}

/** Finds the FlowSchema of a request: the first one with a matching rule, ordered by precedence and then by name. */
export class FlowClassifier {
  readonly #schemas: readonly FlowSchema[];
  /** Authenticators return the same user value for many requests. */
  readonly #byUser = new WeakMap<UserInfo, readonly Candidate[]>();

  constructor(schemas: readonly FlowSchema[]) {
    this.#schemas = schemas.toSorted((a, b) => precedence(a) - precedence(b) || (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  /** Returns undefined if no schema matches. */
  classify(user: UserInfo, info: RequestInfo): FlowSchema | undefined {
    let candidates = this.#byUser.get(user);
    if (candidates === undefined) this.#byUser.set(user, (candidates = this.#candidatesFor(user)));
    for (const { schema, rules } of candidates) {
      for (const rule of rules) {
        if (ruleMatches(rule, info)) return schema;
      }
    }
    return undefined;
  }

  #candidatesFor(user: UserInfo): Candidate[] {
    return this.#schemas.flatMap((schema) => {
      const rules = (schema.spec?.rules ?? []).filter(({ subjects }) =>
        (subjects ?? []).some((subject) => isSubject(user, subject)),
      );
      return rules.length === 0 ? [] : [{ schema, rules }];
    });
  }
}

/** Returns the user or namespace that distinguishes the flow from others of the same schema; "" if nothing does. */
export function distinguisherOf({ spec }: FlowSchema, user: UserInfo, info: RequestInfo): string {
  switch (spec?.distinguisherMethod?.type) {
    case "ByUser":
      return user.name;
    case "ByNamespace":
      return info.kind === "resource" ? info.namespace : "";
    default:
      return "";
  }
}

function precedence({ spec }: FlowSchema): number {
  return spec?.matchingPrecedence ?? 0;
}

function nameOf({ metadata }: FlowSchema): string {
  return metadata.name ?? "";
}

function isSubject(user: UserInfo, { kind, user: named, group, serviceAccount }: Subject): boolean {
  switch (kind) {
    case "User":
      return named?.name === "*" || named?.name === user.name;
    case "Group":
      return group?.name === "*" || user.groups.includes(group?.name ?? "");
    case "ServiceAccount": {
      const { namespace = "", name = "" } = serviceAccount ?? {};
      const prefix = `system:serviceaccount:${namespace}:`;
      return name === "*" ? user.name.startsWith(prefix) : user.name === prefix + name;
    }
    default:
      return false;
  }
}

function ruleMatches({ resourceRules, nonResourceRules }: Rule, info: RequestInfo): boolean {
  return info.kind === "resource"
    ? (resourceRules ?? []).some((rule) => resourceRuleMatches(rule, info))
    : (nonResourceRules ?? []).some((rule) => nonResourceRuleMatches(rule, info));
}

function resourceRuleMatches(rule: ResourcePolicyRule, info: ResourceRequest): boolean {
  const { verb, group, resource, subresource, namespace } = info;
  return (
    covers(rule.verbs, verb) &&
    covers(rule.apiGroups, group) &&
    covers(rule.resources, subresource === "" ? resource : `${resource}/${subresource}`) &&
    (namespace === "" ? rule.clusterScope === true : covers(rule.namespaces, namespace))
  );
}

function nonResourceRuleMatches({ verbs, nonResourceURLs }: NonResourcePolicyRule, info: NonResourceRequest): boolean {
  return covers(verbs, info.verb) && (nonResourceURLs ?? []).some((pattern) => pathMatches(pattern, info.path));
}

/** The wildcard has a meaning only as the single value. */
function covers(values: readonly string[] | null, value: string): boolean {
  if (values === null) return false;
  return values.includes(value) || (values.length === 1 && values[0] === "*");
}

/** A path without a wildcard covers the paths below it as well. */
function pathMatches(pattern: string, path: string): boolean {
  if (pattern === "*" || pattern === path) return true;
  const prefix = pattern.endsWith("*") ? pattern.slice(0, -1) : pattern;
  return path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}
