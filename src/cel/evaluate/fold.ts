import { workRemaining } from "../limits.ts";
import { representationName } from "../types/runtime-type.ts";
import { GrowingList } from "../values/lists.ts";
import { entriesOf, GrowingMap } from "../values/maps.ts";
import { EvaluationError, isError, List, type Result, type Value, ValueMap } from "../values/value.ts";
import type { Frame, Step } from "./frame.ts";
import { type Elements, Loop } from "./loop.ts";
import { EvaluationPaused, isPauseDue } from "./pause.ts";

/** The parts of a loop, with the numbers of its variables. */
export interface FoldSteps {
  readonly id: number;
  readonly range: Step;
  readonly condition: Step;
  readonly step: Step;
  readonly result: Step;
  readonly accuSlot: number;
  readonly iterSlot: number;
  readonly iterSlot2: number | undefined;
}

export function foldStep(steps: FoldSteps): Step {
  return { id: steps.id, run: (frame) => runFold(steps, frame) };
}

function runFold(steps: FoldSteps, frame: Frame): Result {
  const outer = frame.progress;
  const known = outer.recall(steps, frame);
  if (known !== undefined) return known;
  const resumed = outer.resume(steps);
  resumed?.restore(frame);
  const loop = resumed ?? beginLoop(steps, frame);
  if (!(loop instanceof Loop)) return loop;
  frame.progress = loop;
  if (!loop.isOver) runElements(steps, loop, frame);
  const result = finished(steps.result.run(frame));
  frame.progress = outer;
  outer.end(loop, result, frame);
  return result;
}

function beginLoop(steps: FoldSteps, frame: Frame): Loop | EvaluationError {
  const { cost } = frame;
  const work = workRemaining();
  const range = steps.range.run(frame);
  if (isError(range)) return range;
  const elements = elementsOf(range, steps.iterSlot2 !== undefined);
  if (elements instanceof EvaluationError) return elements;
  frame.slots[steps.accuSlot] = undefined;
  const loop = new Loop(steps, elements, cost, work);
  frame.progress.begin(loop);
  return loop;
}

function elementsOf(range: Value, hasTwoVariables: boolean): Elements | EvaluationError {
  if (range instanceof List) return { kind: "list", list: range, size: range.size };
  if (hasTwoVariables) {
    if (range instanceof ValueMap) return { kind: "entries", entries: entriesOf(range)[Symbol.iterator]() };
    return new EvaluationError(`unsupported comprehension range type: ${representationName(range)}`);
  }
  if (range instanceof ValueMap) return { kind: "keys", keys: range.keys()[Symbol.iterator]() };
  return new EvaluationError(`got '${representationName(range)}', expected iterable type`);
}

/** Runs the elements that are left. @throws EvaluationPaused between two elements */
function runElements(steps: FoldSteps, loop: Loop, frame: Frame): void {
  const { condition, step, accuSlot } = steps;
  for (;;) {
    if (!loop.isInPart) {
      loop.note(frame);
      if (isPauseDue()) throw new EvaluationPaused();
      if (!takeElement(steps, loop, frame)) break;
      loop.beginPart();
    }
    // An error in the condition does not end the loop.
    if (condition.run(frame) === false) break;
    frame.slots[accuSlot] = step.run(frame);
    loop.isInPart = false;
  }
  loop.note(frame);
  loop.beginPart();
  loop.isOver = true;
}

/** Gives the variables of the loop the next element. Returns false if there are no more. */
function takeElement({ iterSlot, iterSlot2 }: FoldSteps, loop: Loop, { slots }: Frame): boolean {
  const { elements } = loop;
  switch (elements.kind) {
    case "list": {
      const at = loop.begun++;
      if (at >= elements.size) return false;
      if (iterSlot2 === undefined) slots[iterSlot] = elements.list.at(at);
      else {
        slots[iterSlot] = BigInt(at);
        slots[iterSlot2] = elements.list.at(at);
      }
      return true;
    }
    case "keys": {
      const next = elements.keys.next();
      if (next.done === true) return false;
      slots[iterSlot] = next.value;
      return true;
    }
    case "entries": {
      const next = elements.entries.next();
      if (next.done === true) return false;
      slots[iterSlot] = next.value[0];
      if (iterSlot2 !== undefined) slots[iterSlot2] = next.value[1];
      return true;
    }
  }
}

/** Returns the first value of an accumulator. Empty lists and maps become ones that grow in place. */
export function firstAccumulator(init: Result): Result {
  if (init instanceof List && init.size === 0) return new GrowingList();
  return init instanceof ValueMap && init.size === 0 ? new GrowingMap() : init;
}

function finished(result: Result): Result {
  return result instanceof GrowingList || result instanceof GrowingMap ? result.finish() : result;
}
