import type { KubeObject } from "../../api/object-meta.ts";
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../../api/types/admissionregistration-v1.ts";
import type { Json } from "../../cel/index.ts";
import { type Eventual, followedBy } from "../../process/eventual.ts";
import { TurnSlice } from "../../process/turn-slice.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.ts";
import { AccessChecks, evaluateInTurns } from "../expressions/access-checks.ts";
import type { ConditionsTime } from "../expressions/match-conditions.ts";
import type { ExpressionRequest } from "../expressions/request-values.ts";
import { RequestDocuments } from "../matching/request-documents.ts";
import { AuditAnnotations } from "./audit-annotations.ts";
import { isExemptFromPolicies } from "./exempt-resources.ts";
import { type Dispatched, Dispatcher } from "./invocations.ts";
import { namespaceOfRequest } from "./namespace-object.ts";
import { type Enforcement, policyErrorType } from "./policy-observer.ts";
import type { PolicyParts } from "./policy-parts.ts";
import { CompiledEntries, PolicySet } from "./policy-set.ts";
import { policyRefusal } from "./refusal.ts";
import { type PolicyDecision, ValidatingPolicy } from "./validating-policy.ts";

const group = "admissionregistration.k8s.io";
const enforcements: Readonly<Record<string, Enforcement>> = { Deny: "deny", Warn: "warn", Audit: "audit" };
const codes: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 };
const invalidCode = 422;
const failureAnnotation = "validation.policy.admission.k8s.io/validation_failure";

type Policy = ValidatingAdmissionPolicy;
type Binding = ValidatingAdmissionPolicyBinding;
type Found = Dispatched<Policy, Binding>;
type Invocation = Found & { readonly kind: "invocation" };

/** A verdict against the request. */
interface Denial {
  readonly message: string;
  readonly reason: string;
}

/** Enforces ValidatingAdmissionPolicies. */
export function validatingAdmissionPolicy(parts: PolicyParts): AdmissionPlugin {
  const set = new PolicySet<Policy, Binding>(
    parts.registryOf,
    { group, resource: "validatingadmissionpolicies" },
    { group, resource: "validatingadmissionpolicybindings" },
  );
  const dispatcher = new Dispatcher<Policy, Binding>(parts);
  const compiled = new CompiledEntries<ValidatingPolicy>();
  return {
    name: "ValidatingAdmissionPolicy",
    seesConnections: true,
    validate(attributes) {
      const hooks = set.hooks();
      if (hooks.length === 0 || isExemptFromPolicies(attributes)) return;
      return judge(attributes);
    },
  };

  async function judge(attributes: AdmissionAttributes): Promise<void> {
    const found = await dispatcher.dispatch(set.hooks(), attributes);
    if (found.length === 0) return;
    const run = new Judgement(attributes, parts, (invocation) =>
      compiled.get(invocation.entry, () => ValidatingPolicy.compile(invocation.policy)),
    );
    const slice = new TurnSlice();
    for (const one of found) {
      const pending = run.consider(one);
      if (pending !== undefined) await pending;
      const passed = slice.pass();
      if (passed !== undefined) await passed;
    }
    run.finish();
  }
}

/** The judgement of one request by all policies that it matches. */
class Judgement {
  readonly #attributes: AdmissionAttributes;
  readonly #parts: PolicyParts;
  readonly #compiledOf: (invocation: Invocation) => Eventual<ValidatingPolicy>;
  readonly #checks: AccessChecks;
  readonly #annotations: AuditAnnotations;
  readonly #documents: RequestDocuments;
  #denial: Denial | undefined;

  constructor(
    attributes: AdmissionAttributes,
    parts: PolicyParts,
    compiledOf: (invocation: Invocation) => Eventual<ValidatingPolicy>,
  ) {
    this.#attributes = attributes;
    this.#parts = parts;
    this.#compiledOf = compiledOf;
    this.#checks = new AccessChecks(parts.authorizer, attributes.user);
    this.#annotations = new AuditAnnotations(attributes);
    // Mutating plugins are done: the object is as it will be stored.
    this.#documents = new RequestDocuments(attributes, "asKept");
  }

  consider(found: Found): Eventual<void> {
    if (found.kind === "failure") {
      if (found.policy.spec?.failurePolicy !== "Ignore") this.#deny(found, found.message, "");
      return;
    }
    if (found.params.length === 0) return;
    return followedBy(this.#requestOf(found), (request) => this.#judge(found, request));
  }

  /** @throws StatusError for a request that is denied */
  finish(): void {
    this.#annotations.publish();
    if (this.#denial === undefined) return;
    const { message, reason } = this.#denial;
    throw policyRefusal(this.#attributes, message, {
      code: codes[reason] ?? invalidCode,
      reason: reason || "Invalid",
      causes: [{ message }],
    });
  }

  #requestOf({ matched }: Invocation): Eventual<ExpressionRequest> {
    return followedBy(this.#documents.in(matched), ({ object, oldObject }) => ({
      attributes: this.#attributes,
      matched,
      object,
      oldObject,
      namespaceObject: namespaceOfRequest(this.#attributes, this.#parts.lookup),
      checks: this.#checks,
    }));
  }

  async #judge(invocation: Invocation, request: ExpressionRequest): Promise<void> {
    const compiled = this.#compiledOf(invocation);
    const policy = compiled instanceof Promise ? await compiled : compiled;
    const hasParams = invocation.policy.spec?.paramKind !== undefined;
    for (const param of invocation.params) {
      const params = hasParams ? ((param ?? null) as unknown as Json) : undefined;
      const observe = (time: ConditionsTime) =>
        this.#parts.policyObserver?.conditions(nameOf(invocation.policy), this.#attributes.operation, time);
      const evaluated = evaluateInTurns(this.#checks, () => policy.evaluate(request, params, observe));
      const { decisions, annotations } = evaluated instanceof Promise ? await evaluated : evaluated;
      for (const [at, decision] of decisions.entries()) this.#act(invocation, decision, at);
      for (const annotation of annotations) {
        if (annotation.kind === "error") {
          this.#deny(invocation, annotation.message, "");
          this.#observe(invocation, { message: annotation.message, evaluation: "error", seconds: 0 }, "deny");
        } else this.#annotations.add(nameOf(invocation.policy), annotation.key, annotation.value);
      }
    }
  }

  #act(invocation: Invocation, decision: PolicyDecision, at: number): void {
    if (decision.kind === "admit") {
      if (decision.evaluation === "error") this.#observe(invocation, decision, "allow");
      return;
    }
    const { policy, binding } = invocation;
    const { message, reason } = decision;
    for (const action of binding.spec?.validationActions ?? []) {
      if (action === "Deny") this.#deny(invocation, message, reason);
      if (action === "Warn") {
        const names = `'${policy.metadata.name}' with binding '${binding.metadata.name}'`;
        this.#attributes.warn(`Validation failed for ValidatingAdmissionPolicy ${names}: ${message}`);
      }
      if (action === "Audit") this.#audit(binding, message, at);
      const enforcement = enforcements[action];
      if (enforcement !== undefined) this.#observe(invocation, decision, enforcement);
    }
  }

  #observe(
    { policy, binding }: Invocation,
    { evaluation, message, seconds }: Pick<PolicyDecision, "evaluation" | "message" | "seconds">,
    enforcement: Enforcement,
  ): void {
    const errorType = evaluation === "admit" ? "no_error" : policyErrorType(message);
    const check = { policy: nameOf(policy), binding: nameOf(binding), errorType, seconds } as const;
    this.#parts.policyObserver?.validated(check, enforcement);
  }

  #audit(binding: Binding, message: string, expressionIndex: number): void {
    const { policyName = "", validationActions = [] } = binding.spec ?? {};
    const failure = { message, policy: policyName, binding: binding.metadata.name, expressionIndex, validationActions };
    this.#attributes.annotate(failureAnnotation, JSON.stringify([failure]));
  }

  /** Only the first denial is reported to the client. */
  #deny({ policy, binding }: Pick<Found, "policy" | "binding">, message: string, reason: string): void {
    const by = binding === undefined ? "" : ` with binding '${binding.metadata.name}'`;
    const text = `ValidatingAdmissionPolicy '${policy.metadata.name}'${by} denied request: ${message}`;
    this.#denial ??= { message: text, reason };
  }
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? "";
}
