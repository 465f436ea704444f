import { serviceAccountGroups, serviceAccountUserName } from "../../request/service-account-user.ts";
import type { Library } from "../environment.ts";
import { boolType, type CelType, stringType, structOf } from "../types/cel-type.ts";
import { type FunctionDeclaration, member } from "../types/declarations.ts";
import { EvaluationError, noSuchOverload, OpaqueValue, type Result, type Value } from "../values/value.ts";
import { isNamespaceName, isServiceAccountName } from "./format.ts";

/** The user of a check. */
export interface CheckedUser {
  readonly name: string;
  readonly groups: readonly string[];
}

/** A question to the authorizer. Selectors are texts; the authorizer parses them. */
export type AccessCheck =
  | { readonly kind: "path"; readonly user: CheckedUser; readonly verb: string; readonly path: string }
  | {
      readonly kind: "resource";
      readonly user: CheckedUser;
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
      readonly fieldSelector: string;
      readonly labelSelector: string;
    };

export interface AccessDecision {
  readonly isAllowed: boolean;
  readonly reason: string;
  readonly error?: string;
}

/**
 * Answers checks while an expression is evaluated. An answer that has to be waited for is undefined: the evaluation then ends
 * with a PendingCheck, and is done again when there is one.
 */
export interface AccessChecker {
  check(question: AccessCheck): AccessDecision | undefined;
}

/** Ends an evaluation that needs an answer first. */
export class PendingCheck extends Error {
  readonly question: AccessCheck;

  constructor(question: AccessCheck) {
    super("the answer to an authorization check is not known yet");
    this.name = "PendingCheck";
    this.question = question;
  }
}

/** The resource of a request, for `authorizer.requestResource`. */
export interface RequestResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

const prefix = "kubernetes.authorization";
export const authorizerType = structOf(`${prefix}.Authorizer`);
export const resourceCheckType = structOf(`${prefix}.ResourceCheck`);
const pathCheckType = structOf(`${prefix}.PathCheck`);
const groupCheckType = structOf(`${prefix}.GroupCheck`);
const decisionType = structOf(`${prefix}.Decision`);

/** Values of this library are not compared. */
abstract class AuthorizationValue extends OpaqueValue {
  equals(): Result {
    return noSuchOverload;
  }
}

export class AuthorizerValue extends AuthorizationValue {
  readonly user: CheckedUser;
  readonly checker: AccessChecker;

  constructor(user: CheckedUser, checker: AccessChecker) {
    super();
    this.user = user;
    this.checker = checker;
  }

  get type(): CelType {
    return authorizerType;
  }

  ask(question: AccessCheck): Result {
    const decision = this.checker.check(question);
    if (decision === undefined) throw new PendingCheck(question);
    return new DecisionValue(decision);
  }
}

class PathCheckValue extends AuthorizationValue {
  readonly authorizer: AuthorizerValue;
  readonly path: string;

  constructor(authorizer: AuthorizerValue, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }

  get type(): CelType {
    return pathCheckType;
  }

  check(verb: string): Result {
    const { user } = this.authorizer;
    return this.authorizer.ask({ kind: "path", user, verb, path: this.path });
  }
}

class GroupCheckValue extends AuthorizationValue {
  readonly authorizer: AuthorizerValue;
  readonly group: string;

  constructor(authorizer: AuthorizerValue, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }

  get type(): CelType {
    return groupCheckType;
  }
}

interface ResourceParts extends RequestResource {
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

export class ResourceCheckValue extends AuthorizationValue {
  readonly #authorizer: AuthorizerValue;
  readonly #parts: ResourceParts;

  constructor(authorizer: AuthorizerValue, parts: ResourceParts) {
    super();
    this.#authorizer = authorizer;
    this.#parts = parts;
  }

  /** Makes `authorizer.requestResource`. */
  static ofRequest(authorizer: AuthorizerValue, resource: RequestResource): ResourceCheckValue {
    return new ResourceCheckValue(authorizer, { ...resource, fieldSelector: "", labelSelector: "" });
  }

  get type(): CelType {
    return resourceCheckType;
  }

  with(parts: Partial<ResourceParts>): ResourceCheckValue {
    return new ResourceCheckValue(this.#authorizer, { ...this.#parts, ...parts });
  }

  check(verb: string): Result {
    const { user } = this.#authorizer;
    return this.#authorizer.ask({ kind: "resource", user, verb, ...this.#parts });
  }
}

class DecisionValue extends AuthorizationValue {
  readonly decision: AccessDecision;

  constructor(decision: AccessDecision) {
    super();
    this.decision = decision;
  }

  get type(): CelType {
    return decisionType;
  }
}

/** Checks of permissions: `authorizer.group("apps").resource("deployments").check("get").allowed()`. */
export const authorizerLibrary: Library = {
  functions: [
    {
      name: "path",
      overloads: [member("authorizer_path", [authorizerType, stringType], pathCheckType, { binary: pathCheck })],
    },
    {
      name: "group",
      overloads: [
        member("authorizer_group", [authorizerType, stringType], groupCheckType, {
          binary: (authorizer, group) =>
            authorizer instanceof AuthorizerValue && typeof group === "string"
              ? new GroupCheckValue(authorizer, group)
              : noSuchOverload,
        }),
      ],
    },
    {
      name: "serviceAccount",
      overloads: [
        member("authorizer_serviceaccount", [authorizerType, stringType, stringType], authorizerType, {
          variadic: ([authorizer = null, namespace = null, name = null]) => serviceAccount(authorizer, namespace, name),
        }),
      ],
    },
    {
      name: "resource",
      overloads: [
        member("groupcheck_resource", [groupCheckType, stringType], resourceCheckType, { binary: resourceCheck }),
      ],
    },
    refines("subresource", "resourcecheck_subresource"),
    refines("namespace", "resourcecheck_namespace"),
    refines("name", "resourcecheck_name"),
    {
      name: "check",
      overloads: [
        member("pathcheck_check", [pathCheckType, stringType], decisionType, { binary: check }),
        member("resourcecheck_check", [resourceCheckType, stringType], decisionType, { binary: check }),
      ],
    },
    reads("errored", "decision_errored", boolType, ({ error }) => error !== undefined),
    reads("error", "decision_error", stringType, ({ error }) => error ?? ""),
    reads("allowed", "decision_allowed", boolType, ({ isAllowed }) => isAllowed),
    reads("reason", "decision_reason", stringType, ({ reason }) => reason),
  ],
};

/** Selectors of a check. */
export const authorizerSelectorsLibrary: Library = {
  functions: [
    refines("fieldSelector", "authorizer_fieldselector"),
    refines("labelSelector", "authorizer_labelselector"),
  ],
};

function pathCheck(authorizer: Value, path: Value): Result {
  if (!(authorizer instanceof AuthorizerValue) || typeof path !== "string") return noSuchOverload;
  if (path.trim() === "") return new EvaluationError("path must not be empty");
  return new PathCheckValue(authorizer, path);
}

function serviceAccount(authorizer: Value, namespace: Value, name: Value): Result {
  if (!(authorizer instanceof AuthorizerValue)) return noSuchOverload;
  if (typeof namespace !== "string" || typeof name !== "string") return noSuchOverload;
  if (!isServiceAccountName(name)) return new EvaluationError("Invalid service account name");
  if (!isNamespaceName(namespace)) return new EvaluationError("Invalid service account namespace");
  const user = { name: serviceAccountUserName(namespace, name), groups: serviceAccountGroups(namespace) };
  return new AuthorizerValue(user, authorizer.checker);
}

function resourceCheck(group: Value, resource: Value): Result {
  if (!(group instanceof GroupCheckValue) || typeof resource !== "string") return noSuchOverload;
  if (resource.trim() === "") return new EvaluationError("resource must not be empty");
  const parts = { group: group.group, resource, subresource: "", namespace: "", name: "" };
  return ResourceCheckValue.ofRequest(group.authorizer, parts);
}

function refines(
  name: "subresource" | "namespace" | "name" | "fieldSelector" | "labelSelector",
  id: string,
): FunctionDeclaration {
  const binary = (resource: Value, text: Value): Result =>
    resource instanceof ResourceCheckValue && typeof text === "string"
      ? resource.with({ [name]: text })
      : noSuchOverload;
  return { name, overloads: [member(id, [resourceCheckType, stringType], resourceCheckType, { binary })] };
}

function check(subject: Value, verb: Value): Result {
  if (typeof verb !== "string") return noSuchOverload;
  return subject instanceof PathCheckValue || subject instanceof ResourceCheckValue
    ? subject.check(verb)
    : noSuchOverload;
}

function reads(
  name: string,
  id: string,
  result: CelType,
  read: (decision: AccessDecision) => Result,
): FunctionDeclaration {
  const unary = (decision: Value): Result =>
    decision instanceof DecisionValue ? read(decision.decision) : noSuchOverload;
  return { name, overloads: [member(id, [decisionType], result, { unary })] };
}
