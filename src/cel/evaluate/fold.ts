import { representationName } from "../types/runtime-type.ts";
import { GrowingList } from "../values/lists.ts";
import { entriesOf, GrowingMap } from "../values/maps.ts";
import { EvaluationError, isError, List, type Result, ValueMap } from "../values/value.ts";
import type { Frame, Step } from "./frame.ts";

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
  const range = steps.range.run(frame);
  if (isError(range)) return range;
  frame.slots[steps.accuSlot] = undefined;
  if (range instanceof List) {
    foldList(steps, frame, range);
  } else if (steps.iterSlot2 === undefined) {
    const items = range instanceof ValueMap ? range.keys() : undefined;
    if (items === undefined) return new EvaluationError(`got '${representationName(range)}', expected iterable type`);
    for (const item of items) {
      frame.slots[steps.iterSlot] = item;
      if (!runStep(steps, frame)) break;
    }
  } else {
    const entries = range instanceof ValueMap ? entriesOf(range) : undefined;
    if (entries === undefined) {
      return new EvaluationError(`unsupported comprehension range type: ${representationName(range)}`);
    }
    for (const [key, value] of entries) {
      frame.slots[steps.iterSlot] = key;
      frame.slots[steps.iterSlot2] = value;
      if (!runStep(steps, frame)) break;
    }
  }
  return finished(steps.result.run(frame));
}

function foldList(steps: FoldSteps, frame: Frame, list: List): void {
  const { iterSlot, iterSlot2 } = steps;
  const { size } = list;
  for (let at = 0; at < size; at++) {
    if (iterSlot2 === undefined) frame.slots[iterSlot] = list.at(at);
    else {
      frame.slots[iterSlot] = BigInt(at);
      frame.slots[iterSlot2] = list.at(at);
    }
    if (!runStep(steps, frame)) return;
  }
}

/** Reports whether the loop goes on. An error in the condition does not end it. */
function runStep(steps: FoldSteps, frame: Frame): boolean {
  if (steps.condition.run(frame) === false) return false;
  frame.slots[steps.accuSlot] = steps.step.run(frame);
  return true;
}

/** Returns the first value of an accumulator. Empty lists and maps become such that grow in place. */
export function firstAccumulator(init: Result): Result {
  if (init instanceof List && init.size === 0) return new GrowingList();
  return init instanceof ValueMap && init.size === 0 ? new GrowingMap() : init;
}

function finished(result: Result): Result {
  return result instanceof GrowingList || result instanceof GrowingMap ? result.finish() : result;
}
