import { parseFieldSelector } from "../../src/api/field-selector.ts";
import { labelSelectorText, parseLabelSelector } from "../../src/api/label-selector.ts";
import {
  type AccessCheck,
  type AccessChecker,
  type AccessDecision,
  AuthorizerValue,
  ResourceCheckValue,
} from "../../src/cel/library/authorizer.ts";

/** Decides by the verb, and records the questions. */
const fakeChecker: AccessChecker = {
  check(question: AccessCheck): AccessDecision {
    const reason = describe(question);
    if (question.verb === "error") return { isAllowed: false, reason, error: "fake failure" };
    if (question.verb === "deny") return { isAllowed: false, reason };
    const isPods = question.kind === "resource" && question.resource === "pods";
    return { isAllowed: question.verb === "get" || question.verb === "list" || isPods, reason };
  },
};

function describe(question: AccessCheck): string {
  const user = `user=${question.user.name} groups=${question.user.groups.join(",")} verb=${question.verb}`;
  if (question.kind === "path") return `${user} path=${question.path}`;
  const { group, resource, subresource, namespace, name } = question;
  const target = `group=${group} version=* resource=${resource} sub=${subresource} ns=${namespace} name=${name}`;
  return `${user} ${target}${fieldText(question.fieldSelector)}${labelText(question.labelSelector)}`;
}

function fieldText(selector: string): string {
  if (selector === "") return "";
  try {
    const { terms } = parseFieldSelector(selector);
    return terms.map(({ label, operator, value }) => ` field=${label}|${operator}|${value}`).join("");
  } catch (error) {
    return ` fieldErr=${error instanceof Error ? error.message : String(error)}`;
  }
}

function labelText(selector: string): string {
  if (selector === "") return "";
  try {
    const { requirements } = parseLabelSelector(selector);
    return requirements.map((requirement) => ` label=${labelSelectorText({ requirements: [requirement] })}`).join("");
  } catch (error) {
    return ` labelErr=${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The variables of the cases with an authorizer. */
export function fakeAuthorizer(): {
  readonly authorizer: AuthorizerValue;
  readonly requestResource: ResourceCheckValue;
} {
  const authorizer = new AuthorizerValue({ name: "alice", groups: ["dev", "ops"] }, fakeChecker);
  const requestResource = ResourceCheckValue.ofRequest(authorizer, {
    group: "apps",
    resource: "deployments",
    subresource: "status",
    namespace: "shop",
    name: "web-1",
  });
  return { authorizer, requestResource };
}
