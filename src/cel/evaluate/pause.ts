/** Longest stretch of an evaluation before other requests have their turn. */
const stretchMsMax = 5;
/** Elements of loops between two looks at the clock. */
const elementsPerLook = 32;

/** Ends a stretch of an evaluation at a loop. The evaluation continues from there later. */
export class EvaluationPaused extends Error {
  override readonly name = "EvaluationPaused";
}

let isPausable = false;
let elements = 0;
/** Undefined until the evaluation has gone through some elements: most have few, and never look at the clock. */
let pauseAtMs: number | undefined;

/** Begins a stretch. Evaluations that are started by this one belong to it. */
export function beginStretch(canPause: boolean): void {
  isPausable = canPause;
  elements = 0;
  pauseAtMs = undefined;
}

/** Reports whether the stretch is long enough. Asked before each element of a loop. */
export function isPauseDue(): boolean {
  if (++elements < elementsPerLook || !isPausable) return false;
  elements = 0;
  const nowMs = performance.now();
  pauseAtMs ??= nowMs + stretchMsMax;
  return nowMs >= pauseAtMs;
}
