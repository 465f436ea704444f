/** Maximum duration of a stretch of an evaluation before other requests get a turn. */
const stretchMsMax = 5;
/** Number of loop elements between two readings of the clock. */
const elementsPerLook = 32;

/** Ends a stretch of an evaluation at a loop. The evaluation continues from there later. */
export class EvaluationPaused extends Error {
  override readonly name = "EvaluationPaused";
}

let isPausable = false;
let elements = 0;
/** Undefined until the evaluation has processed some elements. Most have few, and never read the clock. */
let pauseAtMs: number | undefined;

/** Begins a stretch. It includes evaluations that this one starts. */
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
