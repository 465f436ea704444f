import type { Entry } from "../../api/entry.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { StatusError } from "../../api/status.ts";
import type { MatchResources, ParamKind, ParamRef } from "../../api/types/admissionregistration-v1.ts";
import type { Eventual } from "../../process/eventual.ts";
import type { AdmissionAttributes } from "../../registry/admission.ts";
import { type MatchedResource, namespaceOf } from "../matching/matched-resource.ts";
import { ConfigurationProblem, collectParams, type ParamParts, paramResource } from "./params.ts";
import { everyMatch, type MatchParts, PolicyMatch } from "./policy-match.ts";
import type { PolicyHook } from "./policy-set.ts";

/** Fields that validating and mutating policies share. */
export interface AnyPolicy extends KubeObject {
  spec?: { paramKind?: ParamKind; matchConstraints?: MatchResources; failurePolicy?: string };
}
export interface AnyBinding extends KubeObject {
  spec?: { paramRef?: ParamRef; matchResources?: MatchResources };
}

/** A binding of a policy that is for a request. */
export interface Invocation<Policy, Binding> {
  readonly entry: Entry;
  readonly policy: Policy;
  readonly binding: Binding;
  readonly matched: MatchedResource;
  /**
   * Parameters, each evaluated separately; undefined means none. Empty if the binding allows parameters to be missing.
   */
  readonly params: readonly (KubeObject | undefined)[];
}

/** A policy or a binding that cannot be used for a request that it is for. */
export interface ConfigurationFailure<Policy, Binding> {
  readonly policy: Policy;
  readonly binding: Binding | undefined;
  readonly message: string;
}

export type Dispatched<Policy, Binding> =
  | ({ readonly kind: "invocation" } & Invocation<Policy, Binding>)
  | ({ readonly kind: "failure" } & ConfigurationFailure<Policy, Binding>);

export type DispatchParts = MatchParts & ParamParts;

/** Finds the policies and bindings that a request is for, in their order, with the parameters of each. */
export class Dispatcher<Policy extends AnyPolicy, Binding extends AnyBinding> {
  readonly #parts: DispatchParts;
  readonly #policies = new WeakMap<Entry, PolicyMatch>();
  readonly #bindings = new WeakMap<Binding, PolicyMatch>();

  constructor(parts: DispatchParts) {
    this.#parts = parts;
  }

  async dispatch(
    hooks: readonly PolicyHook<Policy, Binding>[],
    attributes: AdmissionAttributes,
  ): Promise<readonly Dispatched<Policy, Binding>[]> {
    const found: Dispatched<Policy, Binding>[] = [];
    for (const hook of hooks) {
      const pending = this.#dispatchHook(hook, attributes, found);
      if (pending !== undefined) await pending;
    }
    return found;
  }

  #dispatchHook(
    { entry, policy, bindings }: PolicyHook<Policy, Binding>,
    attributes: AdmissionAttributes,
    found: Dispatched<Policy, Binding>[],
  ): Eventual<void> {
    const { matchConstraints = {} as MatchResources, paramKind } = policy.spec ?? {};
    const fail = (binding: Binding | undefined, error: unknown) => {
      found.push({ kind: "failure", policy, binding, message: configurationMessage(binding !== undefined, error) });
    };
    try {
      let match = this.#policies.get(entry);
      if (match === undefined) {
        match = new PolicyMatch(matchConstraints);
        this.#policies.set(entry, match);
      }
      const matched = match.match(attributes, this.#parts);
      if (matched === undefined) return;
      if (paramKind !== undefined) paramResource(paramKind, this.#parts);
      return this.#bind({ entry, policy, bindings }, matched, attributes, found, fail);
    } catch (error) {
      fail(undefined, error);
    }
  }

  #bind(
    { entry, policy, bindings }: PolicyHook<Policy, Binding>,
    matched: MatchedResource,
    attributes: AdmissionAttributes,
    found: Dispatched<Policy, Binding>[],
    fail: (binding: Binding, error: unknown) => void,
  ): Eventual<void> {
    let waiting: Promise<void> | undefined;
    for (const binding of bindings) {
      try {
        if (this.#matchOf(binding).match(attributes, this.#parts) === undefined) continue;
        const params = this.#paramsOf(policy, binding, attributes);
        const add = (known: readonly (KubeObject | undefined)[]) => {
          found.push({ kind: "invocation", entry, policy, binding, matched, params: known });
        };
        if (params instanceof Promise || waiting !== undefined) {
          waiting = (waiting ?? Promise.resolve()).then(async () => add(await params)).catch((e) => fail(binding, e));
        } else add(params);
      } catch (error) {
        fail(binding, error);
      }
    }
    return waiting as Eventual<void>;
  }

  #matchOf(binding: Binding): PolicyMatch {
    const resources = binding.spec?.matchResources;
    if (resources === undefined) return everyMatch;
    const known = this.#bindings.get(binding);
    if (known !== undefined) return known;
    const match = new PolicyMatch(resources);
    this.#bindings.set(binding, match);
    return match;
  }

  #paramsOf(
    { spec }: Policy,
    binding: Binding,
    attributes: AdmissionAttributes,
  ): Eventual<readonly (KubeObject | undefined)[]> {
    const ref = binding.spec?.paramRef;
    if (spec?.paramKind === undefined || ref === undefined) return [undefined];
    return collectParams(paramResource(spec.paramKind, this.#parts), ref, namespaceOf(attributes), this.#parts);
  }
}

/** Returns the message for a problem of the configuration; throws any other error again. */
function configurationMessage(hasBinding: boolean, error: unknown): string {
  if (!(error instanceof ConfigurationProblem) && !(error instanceof StatusError)) throw error;
  return `failed to configure ${hasBinding ? "binding" : "policy"}: ${error.message}`;
}
