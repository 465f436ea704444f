import type { Attributes, Selectors } from "../../access/authorization/attributes.ts";
import type { Authorizer, Decision } from "../../access/authorization/authorizer.ts";
import { parseFieldSelector } from "../../api/field-selector.ts";
import { parseLabelSelector } from "../../api/label-selector.ts";
import { type AccessCheck, type AccessChecker, type AccessDecision, PendingCheck } from "../../cel/index.ts";
import type { Eventual } from "../../process/eventual.ts";
import { runSliced } from "../../process/sliced.ts";
import { thrownText } from "../../process/thrown-text.ts";
import type { UserInfo } from "../../request/user-info.ts";

/** Answers that one evaluation may wait for. Its cost limit allows far fewer. */
const waitsMax = 1_000;

/** Answers the checks of expressions about one request. Asks the same question only once. */
export class AccessChecks implements AccessChecker {
  readonly #authorizer: Authorizer;
  readonly #user: UserInfo;
  readonly #answers = new Map<string, AccessDecision>();
  readonly #awaited = new Map<string, Promise<Decision>>();

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer;
    this.#user = user;
  }

  get user(): UserInfo {
    return this.#user;
  }

  check(question: AccessCheck): AccessDecision | undefined {
    const user = this.#userOf(question);
    const key = JSON.stringify({ ...question, user: { ...user, extra: [...user.extra] } });
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    let decision: Eventual<Decision>;
    try {
      decision = this.#authorizer.authorize(user, attributesOf(question));
    } catch (error) {
      return this.#keep(key, failed(error));
    }
    if (!(decision instanceof Promise)) return this.#keep(key, answered(decision));
    this.#awaited.set(key, decision);
    return undefined;
  }

  /** Waits for the answers that evaluations lack. */
  async settle(): Promise<void> {
    for (const [key, decision] of this.#awaited) {
      this.#answers.set(key, await decision.then(answered, failed));
    }
    this.#awaited.clear();
  }

  #keep(key: string, decision: AccessDecision): AccessDecision {
    this.#answers.set(key, decision);
    return decision;
  }

  #userOf({ user }: AccessCheck): UserInfo {
    if (user === this.#user) return this.#user;
    return { name: user.name, uid: "", groups: user.groups, extra: new Map() };
  }
}

/** An evaluation in steps, between which other requests may have a turn. */
export type EvaluationSteps<T> = Generator<undefined, T, undefined>;

/** Evaluates step by step. A long evaluation continues in another turn; one that must wait starts again. */
export function evaluateInTurns<T>(checks: AccessChecks, evaluate: () => EvaluationSteps<T>): Eventual<T> {
  try {
    const result = runSliced(evaluate());
    return result instanceof Promise ? result.catch((error) => afterAnswers(checks, evaluate, error)) : result;
  } catch (error) {
    if (!(error instanceof PendingCheck)) throw error;
    return afterAnswers(checks, evaluate, error);
  }
}

async function afterAnswers<T>(
  checks: AccessChecks,
  evaluate: () => EvaluationSteps<T>,
  firstError: unknown,
): Promise<T> {
  let error = firstError;
  for (let waits = 0; error instanceof PendingCheck && waits < waitsMax; waits++) {
    await checks.settle();
    try {
      return await runSliced(evaluate());
    } catch (next) {
      error = next;
    }
  }
  throw error;
}

function answered({ kind, reason }: Decision): AccessDecision {
  return { isAllowed: kind === "allow", reason };
}

function failed(error: unknown): AccessDecision {
  return { isAllowed: false, reason: "", error: thrownText(error) };
}

function attributesOf(question: AccessCheck): Attributes {
  const { verb } = question;
  if (question.kind === "path") return { kind: "nonResource", verb, path: question.path };
  const { group, resource, subresource, namespace, name } = question;
  const selectors = selectorsOf(question.fieldSelector, question.labelSelector);
  return { kind: "resource", verb, group, version: "*", resource, subresource, namespace, name, selectors };
}

/** Selectors that cannot be read are left out, which makes the question broader. */
function selectorsOf(fields: string, labels: string): Selectors {
  return {
    fields: orNone(() => parseFieldSelector(fields).terms),
    labels: orNone(() => parseLabelSelector(labels).requirements),
  };
}

function orNone<T>(parse: () => readonly T[]): readonly T[] {
  try {
    return parse();
  } catch {
    return [];
  }
}
