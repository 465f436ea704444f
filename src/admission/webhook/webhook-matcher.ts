import type { Authorizer } from "../../access/authorization/authorizer.ts";
import { StatusError, status } from "../../api/status.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import type { ObjectLookup } from "../../registry/object-lookup.ts";
import { AccessChecks, evaluateInTurns } from "../expressions/access-checks.ts";
import {
  type ConditionsOutcome,
  type ConditionsTime,
  evaluateMatchConditions,
} from "../expressions/match-conditions.ts";
import { RequestValues } from "../expressions/request-values.ts";
import { matchResource, type ServedResources } from "../matching/matched-resource.ts";
import type { RequestDocuments } from "../matching/request-documents.ts";
import { matchesNamespace, matchesObject } from "../matching/selectors.ts";
import type { WebhookInvocation } from "./webhook-caller.ts";
import type { AdmissionWebhook } from "./webhook-configuration.ts";
import type { WebhookObserver, WebhookType } from "./webhook-observer.ts";

export interface WebhookMatcherParts {
  readonly catalog: ServedResources;
  readonly lookup: ObjectLookup;
  readonly authorizer: Authorizer;
  readonly observer: WebhookObserver;
}

const exemptGroup = "admissionregistration.k8s.io";
const exemptKinds: ReadonlySet<string> = new Set([
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
]);

/** Reports whether a request is for a configuration of admission itself, which no webhook may prevent from being repaired. */
export function isExemptFromWebhooks({ kind }: AdmissionAttributes): boolean {
  return kind.group === exemptGroup && exemptKinds.has(kind.kind);
}

/** Decides which webhooks are called for a request. */
export class WebhookMatcher {
  readonly #parts: WebhookMatcherParts;

  constructor(parts: WebhookMatcherParts) {
    this.#parts = parts;
  }

  /**
   * Returns how the webhook is to be called, or undefined if the request does not concern it.
   * @throws StatusError 403 for a condition that fails, 404 for a namespace that is missing
   */
  async match(
    webhook: AdmissionWebhook,
    type: WebhookType,
    attributes: AdmissionAttributes,
    documents: RequestDocuments,
  ): Promise<WebhookInvocation | undefined> {
    const { lookup, catalog } = this.#parts;
    const { object } = documents;
    const inNamespace = matchesNamespace(webhook.namespaceSelector, attributes, object, lookup);
    if (inNamespace === false) return undefined;
    if (!matchesObject(webhook.objectSelector, object, attributes.oldObject)) return undefined;
    const matched = matchResource(webhook.rules, webhook.matchPolicy, attributes, catalog);
    if (matched === undefined) return undefined;
    if (inNamespace instanceof StatusError) throw inNamespace;
    const invocation = { webhook, matched };
    if (!webhook.hasConditions) return invocation;
    return (await this.#conditionsHold(invocation, type, attributes, documents)) ? invocation : undefined;
  }

  async #conditionsHold(
    { webhook, matched }: WebhookInvocation,
    type: WebhookType,
    attributes: AdmissionAttributes,
    documents: RequestDocuments,
  ): Promise<boolean> {
    const { authorizer, observer } = this.#parts;
    const checks = new AccessChecks(authorizer, attributes.user);
    const { object, oldObject } = await documents.in(matched);
    const request = { attributes, matched, object, oldObject, namespaceObject: undefined, checks };
    const observe = (time: ConditionsTime) => observer.conditions(webhook.name, type, attributes.operation, time);
    const conditions = await webhook.conditions();
    const outcome = await evaluateInTurns(checks, () =>
      evaluateMatchConditions(conditions, new RequestValues(request), { observe }),
    );
    return this.#decide(webhook, outcome, attributes);
  }

  #decide(webhook: AdmissionWebhook, outcome: ConditionsOutcome, attributes: AdmissionAttributes): boolean {
    if (outcome.kind !== "failed") return outcome.kind === "match";
    if (webhook.ignoresFailures) return false;
    const { group, resource } = attributes.requested;
    throw status.forbidden({ group, resource, name: attributes.name }, outcome.message);
  }
}
