import { equalJson, type JsonObject } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
} from "../../api/types/admissionregistration-v1.ts";
import type { Json } from "../../cel/index.ts";
import { type Eventual, followedBy } from "../../process/eventual.ts";
import { TurnSlice } from "../../process/turn-slice.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../registry/admission.ts";
import { AccessChecks, type EvaluationSteps, evaluateInTurns } from "../expressions/access-checks.ts";
import type { ConditionsTime } from "../expressions/match-conditions.ts";
import type { ExpressionRequest } from "../expressions/request-values.ts";
import type { MatchedResource } from "../matching/matched-resource.ts";
import { RequestDocuments } from "../matching/request-documents.ts";
import { isExemptFromPolicies } from "./exempt-resources.ts";
import { type Dispatched, Dispatcher } from "./invocations.ts";
import { MutatingPolicy } from "./mutating-policy.ts";
import { MutationError } from "./mutation-error.ts";
import { namespaceOfRequest } from "./namespace-object.ts";
import { policyErrorType } from "./policy-observer.ts";
import type { PolicyParts } from "./policy-parts.ts";
import { roundsOf } from "./policy-rounds.ts";
import { CompiledEntries, PolicySet } from "./policy-set.ts";
import { policyRefusal } from "./refusal.ts";

const group = "admissionregistration.k8s.io";

type Policy = MutatingAdmissionPolicy;
type Binding = MutatingAdmissionPolicyBinding;
type Found = Dispatched<Policy, Binding>;
type Invocation = Found & { readonly kind: "invocation" };

/** Changes objects as MutatingAdmissionPolicies say. */
export function mutatingAdmissionPolicy(parts: PolicyParts): AdmissionPlugin {
  const set = new PolicySet<Policy, Binding>(
    parts.registryOf,
    { group, resource: "mutatingadmissionpolicies" },
    { group, resource: "mutatingadmissionpolicybindings" },
  );
  const dispatcher = new Dispatcher<Policy, Binding>(parts);
  const compiled = new CompiledEntries<MutatingPolicy>();
  return {
    name: "MutatingAdmissionPolicy",
    seesConnections: true,
    admit(attributes) {
      const hooks = set.hooks();
      if (hooks.length === 0 || isExemptFromPolicies(attributes)) return;
      return mutate(attributes);
    },
  };

  async function mutate(attributes: AdmissionAttributes): Promise<void> {
    const found = await dispatcher.dispatch(set.hooks(), attributes);
    if (found.length === 0) return;
    const compiledOf = ({ entry, policy }: Invocation) => compiled.get(entry, () => MutatingPolicy.compile(policy));
    await new Mutations(attributes, parts, compiledOf).run(found);
  }
}

/** A failure that counts against the request. */
interface Failure {
  readonly policy: Policy;
  readonly binding: Binding | undefined;
  readonly message: string;
  /** "" for a failure of the configuration. */
  readonly reason: "Invalid" | "";
}

/** The changes of one request by all policies that it matches, each on the result of the one before. */
class Mutations {
  readonly #attributes: AdmissionAttributes;
  readonly #parts: PolicyParts;
  readonly #compiledOf: (invocation: Invocation) => Eventual<MutatingPolicy>;
  readonly #checks: AccessChecks;
  readonly #slice = new TurnSlice();
  readonly #failures: Failure[] = [];
  readonly #documents: RequestDocuments;
  #namespace: { readonly object: KubeObject | undefined } | undefined;
  /** Some mutation took place, be it one that changes nothing. */
  #isTouched = false;

  constructor(
    attributes: AdmissionAttributes,
    parts: PolicyParts,
    compiledOf: (invocation: Invocation) => Eventual<MutatingPolicy>,
  ) {
    this.#attributes = attributes;
    this.#parts = parts;
    this.#compiledOf = compiledOf;
    this.#checks = new AccessChecks(parts.authorizer, attributes.user);
    this.#documents = new RequestDocuments(attributes, "asRead");
  }

  /** @throws StatusError for a request that is denied */
  async run(found: readonly Found[]): Promise<void> {
    for (const one of found) if (one.kind === "failure") this.#failures.push({ ...one, reason: "" });
    const invocations = found.filter((one) => one.kind === "invocation" && one.params.length > 0) as Invocation[];
    if (invocations.length > 0) await this.#invokeAll(invocations);
    const failures = this.#failures.filter(({ policy }) => policy.spec?.failurePolicy !== "Ignore");
    if (failures.length > 0) throw this.#refusal(failures);
  }

  async #invokeAll(invocations: readonly Invocation[]): Promise<void> {
    const { object, reinvocation } = this.#attributes;
    const rounds = roundsOf(reinvocation);
    rounds.begin(object as JsonObject | undefined, reinvocation.isRepeat);
    for (const invocation of invocations) {
      const policy = await this.#compiledOf(invocation);
      for (const param of invocation.params) {
        const hasParams = invocation.policy.spec?.paramKind !== undefined;
        await this.#invoke(invocation, policy, hasParams ? ((param ?? null) as unknown as Json) : undefined);
      }
    }
    if (this.#isTouched) {
      rounds.queueAll();
      reinvocation.request();
    }
    await this.#documents.enter();
    rounds.end(object as JsonObject | undefined);
  }

  async #invoke(invocation: Invocation, policy: MutatingPolicy, params: Json | undefined): Promise<void> {
    const { reinvocation } = this.#attributes;
    const rounds = roundsOf(reinvocation);
    const { matched } = invocation;
    if (policy.hasConditions && !(await this.#matches(invocation, policy, params))) return;
    const key = invocationKey(invocation, params);
    if (reinvocation.isRepeat && !rounds.isQueued(key)) return;
    const { object: before } = await this.#documents.in(matched);
    const startMs = performance.now();
    const failuresBefore = this.#failures.length;
    for (const mutation of before === undefined ? [] : policy.mutations) {
      const turn = this.#slice.pass();
      if (turn !== undefined) await turn;
      const attempt = this.#attempt(invocation, () =>
        this.#evaluate(invocation, (request) => policy.mutate(mutation, request, params, this.#documents)),
      );
      const changed = attempt instanceof Promise ? await attempt : attempt;
      if (changed === undefined) continue;
      this.#documents.replace(changed);
      this.#isTouched = true;
    }
    this.#observe(invocation, startMs, this.#failures[failuresBefore]?.message);
    const { object: after } = this.#documents;
    if (before !== undefined && !equalJson(before as unknown as JsonObject, after as unknown as JsonObject)) {
      rounds.queueAll();
      reinvocation.request();
    }
    if (policy.reinvokes) rounds.note(key);
  }

  /** Reports whether the conditions of the policy hold. */
  async #matches(invocation: Invocation, policy: MutatingPolicy, params: Json | undefined): Promise<boolean> {
    const { name = "" } = invocation.policy.metadata;
    const observe = (time: ConditionsTime) =>
      this.#parts.policyObserver?.conditions(name, this.#attributes.operation, time);
    const isMatch = await this.#attempt(invocation, () =>
      this.#evaluate(invocation, (request) => policy.matches(request, params, observe)),
    );
    return isMatch === true;
  }

  #observe({ policy, binding }: Invocation, startMs: number, failure: string | undefined): void {
    this.#parts.policyObserver?.mutated({
      policy: policy.metadata.name ?? "",
      binding: binding.metadata.name ?? "",
      errorType: failure === undefined ? "no_error" : policyErrorType(failure),
      seconds: (performance.now() - startMs) / 1_000,
    });
  }

  /** Returns undefined where the run fails in a way that the policy's failurePolicy covers. */
  #attempt<T>({ policy, binding }: Invocation, run: () => Eventual<T>): Eventual<T | undefined> {
    const failed = (error: unknown): undefined => {
      if (!(error instanceof MutationError)) throw error;
      this.#failures.push({ policy, binding, message: error.message, reason: "Invalid" });
    };
    try {
      const result = run();
      return result instanceof Promise ? result.catch(failed) : result;
    } catch (error) {
      return failed(error);
    }
  }

  /** Evaluates about the object as it is now. */
  #evaluate<T>({ matched }: Invocation, evaluate: (request: ExpressionRequest) => EvaluationSteps<T>): Eventual<T> {
    return followedBy(this.#requestOf(matched), (request) => evaluateInTurns(this.#checks, () => evaluate(request)));
  }

  #requestOf(matched: MatchedResource): Eventual<ExpressionRequest> {
    this.#namespace ??= { object: namespaceOfRequest(this.#attributes, this.#parts.lookup) };
    const { object: namespaceObject } = this.#namespace;
    return followedBy(this.#documents.in(matched), ({ object, oldObject }) => ({
      attributes: this.#attributes,
      matched,
      object,
      oldObject,
      namespaceObject,
      checks: this.#checks,
    }));
  }

  #refusal(failures: readonly Failure[]): Error {
    const causes = failures.map((failure) => ({ message: failureText(failure) }));
    const message = causes[0]?.message ?? "";
    const reason = failures[0]?.reason || "Forbidden";
    return policyRefusal(this.#attributes, message, { code: 403, reason, causes, message });
  }
}

function failureText({ policy, binding, message }: Failure): string {
  const { name = "" } = policy.metadata;
  if (binding === undefined) return `policy ${JSON.stringify(name)} denied request: ${message}`;
  return `policy '${name}' with binding '${binding.metadata.name}' denied request: ${message}`;
}

function invocationKey({ policy, binding }: Invocation, params: Json | undefined): string {
  const { namespace = "", name = "" } = ((params ?? {}) as Partial<KubeObject>).metadata ?? {};
  return JSON.stringify([policy.metadata.name, binding.metadata.name, namespace, name]);
}
