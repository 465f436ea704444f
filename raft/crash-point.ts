/**
 * Places where a test ends the process or the simulated machine: between any two of them what is durable, sent, applied
 * or answered differs. Production passes nothing.
 */
export const crashPoints = [
  "logBeforeWrite",
  "logBeforeSync",
  "logAfterSync",
  "segmentBeforeRoll",
  "segmentPrepared",
  "compactionBeforeRemoval",
  "compactionAfterRemoval",
  "beforeSend",
  "beforeApply",
  "afterApply",
  "snapshotBeforeRestore",
  "snapshotAfterRestore",
  "snapshotAfterInstall",
  "beforeAnswer",
] as const;

export type CrashPoint = (typeof crashPoints)[number];

/** Called at each of them. One that does not return, or throws, is a crash. */
export type ReachCrashPoint = (point: CrashPoint) => void;

export const noCrash: ReachCrashPoint = () => {};
