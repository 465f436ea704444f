/** State of one object as a number: 0 is absent, and any other number identifies the write that made it. */
export type State = number;

export const absent: State = 0;

/** An operation in the search. It takes effect at one moment between call and return. */
export interface Step {
  readonly callMs: number;
  /** Time of the return; Infinity if the outcome is unknown and the operation may never take effect. */
  readonly returnMs: number;
  /** Reports whether it can take effect in this state with its outcome. */
  readonly allows: (state: State) => boolean;
  /** State afterwards; undefined for a pure observation. */
  readonly next: State | undefined;
}

export type Verdict =
  | { readonly kind: "linearizable" }
  /** No order explains the outcome of step `at`; `states` are the possible states at its return. */
  | { readonly kind: "violation"; readonly at: number; readonly states: readonly State[] }
  | { readonly kind: "undecided"; readonly why: string };

export const configurationsMax = 100_000;
/** Bits of a mask. */
const openStepsMax = 30;

/**
 * Searches for an order of the steps that agrees with their times and outcomes: just-in-time linearization (Lowe 2017,
 * "Testing for linearizability"). It processes calls and returns in order of time, and keeps every possible
 * configuration: the state, and the open steps that have taken effect. An observation takes effect in the first state
 * that allows it, which never excludes an order; only writes branch.
 */
export function linearize(steps: readonly Step[], initial: State = absent): Verdict {
  const open = new OpenSteps();
  let configurations = new Map<string, Configuration>();
  addTo(configurations, { state: initial, done: 0 });
  for (const { step, index, isCall } of inOrder(steps)) {
    if (isCall) {
      if (!open.add(step)) return { kind: "undecided", why: `more than ${openStepsMax} operations at once` };
      configurations = mapped(configurations, (configuration) => open.observe(configuration));
      continue;
    }
    const before = configurations;
    const after = open.through(step, before);
    if (after === undefined) return { kind: "undecided", why: `more than ${configurationsMax} configurations` };
    if (after.size === 0) return { kind: "violation", at: index, states: statesOf(before) };
    open.remove(step);
    configurations = after;
  }
  return { kind: "linearizable" };
}

interface Configuration {
  readonly state: State;
  /** Bit set of the slots of open steps that have taken effect. */
  readonly done: number;
}

/** Steps between call and return. Those with an unknown outcome stay. */
class OpenSteps {
  readonly #slots: (Step | undefined)[] = [];

  /** Adds a step. Returns false when too many are open. */
  add(step: Step): boolean {
    const free = this.#slots.indexOf(undefined);
    const slot = free === -1 ? this.#slots.length : free;
    if (slot >= openStepsMax) return false;
    this.#slots[slot] = step;
    return true;
  }

  remove(step: Step): void {
    this.#slots[this.#slots.indexOf(step)] = undefined;
  }

  /** Adds every open observation that this state allows. */
  observe({ state, done }: Configuration): Configuration {
    let all = done;
    for (const [slot, step] of this.#slots.entries()) {
      if (step?.next === undefined && step?.allows(state) === true) all |= 1 << slot;
    }
    return { state, done: all };
  }

  /**
   * Returns the configurations reachable from these in which `step` has taken effect, or undefined when too many exist.
   */
  through(step: Step, from: Map<string, Configuration>): Map<string, Configuration> | undefined {
    const bit = 1 << this.#slots.indexOf(step);
    const found = new Map<string, Configuration>();
    const seen = new Map(from);
    const waiting = [...from.values()];
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      if ((one.done & bit) !== 0) {
        addTo(found, { state: one.state, done: one.done & ~bit });
        continue;
      }
      for (const next of this.#writes(one)) if (addTo(seen, next)) waiting.push(next);
      if (seen.size > configurationsMax) return undefined;
    }
    return found;
  }

  #writes({ state, done }: Configuration): Configuration[] {
    return this.#slots.flatMap((step, slot) =>
      step?.next !== undefined && (done & (1 << slot)) === 0 && step.allows(state)
        ? [this.observe({ state: step.next, done: done | (1 << slot) })]
        : [],
    );
  }
}

/** Sorts calls before returns of the same time, so that two steps without a certain order count as concurrent. */
function inOrder(steps: readonly Step[]) {
  const moments = steps.flatMap((step, index) => {
    const call = { step, index, isCall: true, timeMs: step.callMs };
    return step.returnMs === Infinity ? [call] : [call, { step, index, isCall: false, timeMs: step.returnMs }];
  });
  return moments.sort((left, right) => left.timeMs - right.timeMs || Number(right.isCall) - Number(left.isCall));
}

/** Adds a configuration. Returns false when it existed already. */
function addTo(configurations: Map<string, Configuration>, configuration: Configuration): boolean {
  const name = `${configuration.state}/${configuration.done}`;
  if (configurations.has(name)) return false;
  configurations.set(name, configuration);
  return true;
}

function mapped(configurations: Map<string, Configuration>, change: (one: Configuration) => Configuration) {
  const changed = new Map<string, Configuration>();
  for (const one of configurations.values()) addTo(changed, change(one));
  return changed;
}

function statesOf(configurations: Map<string, Configuration>): State[] {
  return [...new Set([...configurations.values()].map(({ state }) => state))];
}
