import type { UserInfo } from "../../request/user-info.ts";
import type { Attributes } from "./attributes.ts";
import { type Authorizer, type Decision, noOpinion } from "./authorizer.ts";

/**
 * Asks in order. The first allow or deny decides. Joins the reasons of authorizers without an opinion with newlines. An
 * authorizer that fails never allows: the next ones are asked, and if none decides, its error is thrown.
 */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: (user, attributes) => askFrom(authorizers, 0, user, attributes, noMemory),
    rulesFor(user, namespace) {
      const answers = authorizers.flatMap((authorizer) => authorizer.rulesFor?.(user, namespace) ?? []);
      return {
        rules: answers.flatMap(({ rules }) => rules),
        incomplete: answers.some(({ incomplete }) => incomplete),
        errors: answers.flatMap(({ errors }) => errors),
      };
    },
  };
}

interface Memory {
  readonly reasons: readonly string[];
  readonly errors: readonly unknown[];
}
const noMemory: Memory = { reasons: [], errors: [] };

/** Synchronous as long as the authorizers are, because most decisions need no promise. */
function askFrom(
  authorizers: readonly Authorizer[],
  first: number,
  user: UserInfo,
  attributes: Attributes,
  before: Memory,
): Decision | Promise<Decision> {
  let memory = before;
  for (let at = first; at < authorizers.length; at++) {
    const failed = (error: unknown): Memory => ({ ...memory, errors: [...memory.errors, error] });
    let answer: Decision | Promise<Decision>;
    try {
      answer = (authorizers[at] as Authorizer).authorize(user, attributes);
    } catch (error) {
      memory = failed(error);
      continue;
    }
    if (answer instanceof Promise) {
      return answer.then(
        (decision) =>
          decision.kind === "noOpinion"
            ? askFrom(authorizers, at + 1, user, attributes, remember(memory, decision))
            : decision,
        (error: unknown) => askFrom(authorizers, at + 1, user, attributes, failed(error)),
      );
    }
    if (answer.kind !== "noOpinion") return answer;
    memory = remember(memory, answer);
  }
  if (memory.errors.length > 0) throw memory.errors[0];
  return memory.reasons.length === 0 ? noOpinion : { kind: "noOpinion", reason: memory.reasons.join("\n") };
}

function remember(memory: Memory, { reason }: Decision): Memory {
  return reason === "" ? memory : { ...memory, reasons: [...memory.reasons, reason] };
}
