/** Work that gives others their turn now and then: its remaining steps, or undefined if it is done. */
export type Steps = Generator<void, void> | undefined;

/** Work on the parts of a value, one after the other. */
export interface Sequence {
  readonly count: number;
  /** Works on a part. */
  begin(at: number): Steps;
  /** Ends the work on a part. @returns true to leave out the others */
  end(at: number): boolean;
  /** Ends the work on all parts. */
  finish(): Steps;
}

/** Reports whether others should get their turn. */
export interface Pace {
  readonly isDue: boolean;
}

/** Works on the parts at once while nothing is due, so that small values cost no generator. */
export function workThrough(sequence: Sequence, pace: Pace): Steps {
  for (let at = 0; at < sequence.count; at++) {
    const steps = sequence.begin(at);
    if (steps !== undefined || pace.isDue) return workOn(sequence, pace, at, steps);
    if (sequence.end(at)) break;
  }
  return sequence.finish();
}

function* workOn(sequence: Sequence, pace: Pace, from: number, begun: Steps): Generator<void, void> {
  let steps = begun;
  yield;
  for (let at = from; at < sequence.count; at++) {
    if (at > from) steps = sequence.begin(at);
    if (steps !== undefined) yield* steps;
    if (sequence.end(at)) break;
    if (pace.isDue) yield;
  }
  const last = sequence.finish();
  if (last !== undefined) yield* last;
}

/** Continues with more work after some steps. */
export function* followedBy(steps: Generator<void, void>, work: () => Steps): Generator<void, void> {
  yield* steps;
  const more = work();
  if (more !== undefined) yield* more;
}
